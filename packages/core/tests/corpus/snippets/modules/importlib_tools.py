import importlib, importlib.machinery, importlib.resources, importlib.util, sys
module = importlib.import_module("json.decoder")
print(module.__name__, importlib.util.find_spec("os.path") is not None, importlib.util.find_spec("nope"))
open("plugin.py", "w").write("def run(): return __name__\n")
spec = importlib.util.spec_from_file_location("my_plugin", "plugin.py")
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
print(plugin.run(), type(spec.loader).__name__, importlib.machinery.SOURCE_SUFFIXES, sys.modules.get("my_plugin"))
