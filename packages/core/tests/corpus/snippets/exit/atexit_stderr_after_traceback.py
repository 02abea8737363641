import atexit, sys
atexit.register(lambda: print("from atexit", file=sys.stderr))
print("before", file=sys.stderr)
raise ValueError("in between")
