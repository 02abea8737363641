# stdin: "where\np value\nup\np other\nlist\nargs\nquit\n"
import pdb, sys, traceback
def inner(value):
    other = value * 2
    return other / 0
def outer(other):
    return inner(other + 1)
try:
    outer(3)
except ZeroDivisionError:
    pdb.post_mortem()
print("after", sys.stdin.read())
