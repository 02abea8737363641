# files: {"plugins/__init__.py": "", "plugins/alpha.py": "NAME = 'alpha'\ndef run(x): return x + 1\n", "plugins/broken.py": "import not_there\n", "plugins/_hidden.py": "1 / 0\n"}
import importlib, importlib.abc, importlib.machinery, importlib.util, inspect, os, pkgutil, sys, time, types
import plugins
for info in pkgutil.iter_modules(plugins.__path__, "plugins."):
    try:
        module = importlib.import_module(info.name); print(info.name, module.run(1), inspect.getsourcefile(module).endswith("plugins/alpha.py"), module.__cached__ is not None)
    except Exception as error:
        print(info.name, type(error).__name__, error, info.name in sys.modules)
open("settings.py", "w").write("VALUE = 1\n"); importlib.invalidate_caches()
import settings
open("settings.py", "w").write("VALUE = 22\n"); print(settings.VALUE, importlib.reload(settings).VALUE)
spec = importlib.util.spec_from_file_location("loaded", "plugins/alpha.py"); loaded = importlib.util.module_from_spec(spec); spec.loader.exec_module(loaded); print(loaded.NAME, loaded.__spec__.origin[-16:], "loaded" in sys.modules)
made = types.ModuleType("made", "doc"); exec("def f(): return __name__", made.__dict__); sys.modules["made"] = made
from made import f
print(f(), made, importlib.util.find_spec("plugins.alpha").cached.endswith(f"alpha.{sys.implementation.cache_tag}.pyc"))
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None): print("asked for", name, path)
sys.meta_path.insert(0, Finder())
try:
    import nowhere_at_all
except ModuleNotFoundError as error:
    print(error, error.name, error.path)
print([type(one).__name__ if not isinstance(one, type) else one.__name__ for one in sys.meta_path], sys.path[0] == os.getcwd(), sys.path_hooks.__len__(), sorted(os.listdir("plugins"))[:2])
sys.meta_path.pop(0)
from plugins import missing
