import os
for folder in ("a/b", "a/c", "d"):
    os.makedirs(folder)
for path in ("a/1.txt", "a/b/2.py", "d/3.txt"):
    open(path, "w").write(path)
for root, folders, names in os.walk("."):
    folders.sort()
    print(root, sorted(names))
