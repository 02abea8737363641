"""Docs of main."""
import __main__, sys
print(sorted(name for name in vars(__main__) if name.startswith("__")), __main__.__doc__, __spec__, __package__, __name__)
print(__builtins__, sys.modules["__main__"] is __main__, type(__loader__).__name__, __main__.__file__ == __file__, __cached__)
print(dir(), globals() is locals(), globals() is vars(__main__))
def f(x: int) -> str: ...
print(f.__module__, f.__qualname__, f.__globals__ is globals(), __annotations__)
