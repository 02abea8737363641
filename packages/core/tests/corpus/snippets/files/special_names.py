import os
for name in ("with space", "ünïcode", "emoji😀", "-dash", "quote'\"", "new\nline"):
    open(name, "w").close()
print(sorted(name for name in os.listdir() if name != "main.py"))
print(os.listdir(b".")[0].__class__.__name__, os.fsencode("ü"))
