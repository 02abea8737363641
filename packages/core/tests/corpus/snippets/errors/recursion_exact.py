import sys
def count(n):
    try:
        return count(n + 1)
    except RecursionError:
        return n
print(count(1))
sys.setrecursionlimit(300)
print(count(1))
