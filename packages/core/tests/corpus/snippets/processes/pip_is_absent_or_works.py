import importlib.util, shutil
print(importlib.util.find_spec("no_such_package_at_all"), shutil.which("no-such-command"))
