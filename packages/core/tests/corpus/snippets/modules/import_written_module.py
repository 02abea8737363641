import importlib, sys
open("helper.py", "w").write("VALUE = 1\ndef greet(name): return f'hi {name}'\n")
import helper
print(helper.greet("x"), helper.__name__, helper.__file__.endswith("/helper.py"), helper.__spec__.name)
open("helper.py", "w").write("VALUE = 22\n")
importlib.invalidate_caches()
print(importlib.reload(helper).VALUE, "helper" in sys.modules)
