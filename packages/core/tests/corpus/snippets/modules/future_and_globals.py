from __future__ import annotations
import builtins, types
print(type(__builtins__) is types.ModuleType, builtins.__name__, annotations.optional[:2])
builtins.shout = lambda text: print(text.upper())
shout("available everywhere")
exec("y = 5"); print(y, globals()["y"], vars() is globals())
