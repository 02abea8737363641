import subprocess, sys
look = """
import os, sys
# Some systems have one, which is below /etc.
print(sys.flags, sys.meta_path, sys.path_hooks, sorted(set(sys.modules) - {"sitecustomize"}))
print([path.rpartition("/")[2] for path in sys.path])
print(os.statvfs in os.supports_fd, os.statvfs(".").f_bsize > 0)
import multiprocessing, multiprocessing.synchronize, multiprocessing.shared_memory
print("ctypes" in sys.modules, [name for name in sys.modules if "pungi" in name])
import _multiprocessing, _posixshmem
print([sorted(set(vars(module)) - {"__file__"}) for module in (_multiprocessing, _posixshmem)])
"""
for flags in ([], ["-I"], ["-E"], ["-B", "-W", "error"]):
    ended = subprocess.run([sys.executable, *flags, "-c", look], capture_output=True, text=True)
    print(flags, ended.stdout, ended.stderr)
