import os, pathlib
class Calls:
    chmod, utime, statvfs, memfd, chown = os.chmod, os.utime, os.statvfs, os.memfd_create, os.chown
open("x", "w").close()
calls = Calls()
print(calls.chmod("x", 0o600), calls.utime("x"), calls.chown("x", -1, -1))
print(calls.statvfs("/").f_namemax > 0, calls.memfd("n") > 2)
print(pathlib.Path("x").chmod(0o644), pathlib.Path("y").touch(), os.chmod.__name__)
print([function in os.supports_follow_symlinks for function in (os.chmod, os.utime, os.chown)], os.chmod in os.supports_fd)
