import os, sys, sysconfig
print(os.path.exists(sys.executable), sys.prefix != sys.base_prefix, os.path.basename(sys.executable))
print(sys.executable.startswith(sys.prefix), sysconfig.get_paths()["purelib"].startswith(sys.prefix), sysconfig.get_python_version() == "%d.%d" % sys.version_info[:2])
print(os.path.basename(os.path.realpath(sys.executable)).startswith("python3"))
