import os, shutil
os.makedirs("project/src")
open("project/src/a.py", "w").write("print(1)\n")
for kind in ("zip", "gztar", "xztar"):
    path = shutil.make_archive(f"backup-{kind}", kind, "project")
    shutil.unpack_archive(path, f"out-{kind}")
    print(kind, os.path.basename(path), open(f"out-{kind}/src/a.py").read().strip())
