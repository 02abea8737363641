import os
for name in ("HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "PWD", "TMPDIR", "VIRTUAL_ENV"):
    print(name, name in os.environ)
print(os.environ.get("NO_SUCH_VARIABLE", "default"), os.getenv("HOME") == os.getcwd(), os.environ["PATH"].split(":")[-2:])
print(sorted(name for name in os.environ if name.startswith(("PYTHON", "PUNGI"))))
try:
    os.environ["NO_SUCH_VARIABLE"]
except KeyError as error:
    print(error)
os.environ["A"] = "1"; os.putenv("B", "2"); print(os.popen("echo $A$B").read())
os.environ["N"] = 5
