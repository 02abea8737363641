import os, platform
print(platform.system(), platform.machine() != "", platform.python_implementation(), platform.python_version_tuple()[0], os.uname().sysname, os.name)
print(platform.architecture()[0], platform.libc_ver()[0], platform.release() == os.uname().release, bool(platform.platform()))
