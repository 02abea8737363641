import sys
print(sorted(name for name in globals() if name != "sys"))
print(__name__, __doc__, __package__, __spec__, type(__loader__).__name__, __builtins__.__name__)
print(sys.modules["__main__"].__dict__ is globals(), sys.argv, sys.path[0] == __file__.rsplit("/", 1)[0])
