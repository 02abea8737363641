import sys, select
print(repr(sys.stdin.read()))
print(sys.stdin.closed, sys.stdin.isatty())
