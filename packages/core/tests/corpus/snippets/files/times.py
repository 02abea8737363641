import os, time
open("f", "w").close()
os.utime("f", (1_000_000_000, 1_500_000_000))
info = os.stat("f")
print(info.st_atime, info.st_mtime_ns, time.strftime("%Y", time.gmtime(info.st_mtime)))
print(abs(time.time() - info.st_ctime) < 100)
