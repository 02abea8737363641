"""The docstring of the script."""
from __future__ import annotations
def f(a: Missing) -> "Other": ...
print(__doc__, f.__annotations__, __annotations__ if "__annotations__" in globals() else None)
