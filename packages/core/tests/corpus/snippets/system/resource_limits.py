# long: true
import os, resource, subprocess, sys
for name in ("RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_STACK"):
    soft, hard = resource.getrlimit(getattr(resource, name)); print(name, soft <= hard or hard == -1)
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
files = []
try:
    while True: files.append(open("main.py"))
except OSError as error:
    print(error.errno, error.strerror, len(files) > 20); files.clear()
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with open("big", "wb", buffering=0) as file: print(file.write(b"x" * 2000)); file.write(b"x")
except OSError as error:
    print(error)
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (41, 41))
except (ValueError, OSError) as error:
    print(error)
print(subprocess.run([sys.executable, "-c", "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"], capture_output=True, text=True).stdout)
code = "import resource; resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20)); print(len(bytes(900 << 20)))"
ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True); print(ended.returncode, ended.stderr)
code = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass"
print(subprocess.run([sys.executable, "-c", code]).returncode)
usage = resource.getrusage(resource.RUSAGE_CHILDREN); print(usage.ru_utime > 0.5, usage.ru_maxrss > 1000, resource.getpagesize(), resource.prlimit(0, resource.RLIMIT_CORE)[0] >= -1)
