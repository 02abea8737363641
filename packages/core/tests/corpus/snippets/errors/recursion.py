import sys
print(sys.getrecursionlimit())
def depth(n):
    return depth(n + 1)
try:
    depth(0)
except RecursionError as error:
    print(error)
