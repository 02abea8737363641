import os, shutil
open("f", "w").close()
def attempt(action):
    try:
        print(action())
    except OSError as error:
        print(type(error).__name__, error.errno)
attempt(lambda: os.setxattr("f", "user.note", b"one"))
attempt(lambda: os.setxattr("f", "user.note", b"two", os.XATTR_CREATE))
attempt(lambda: os.setxattr("f", "user.none", b"two", os.XATTR_REPLACE))
attempt(lambda: os.getxattr("f", "user.note"))
attempt(lambda: os.setxattr("missing", "user.note", b"x"))
attempt(lambda: os.setxattr("f", "user.", b"x"))
attempt(lambda: os.setxattr("f", "other.note", b"x"))
with open("f") as file:
    attempt(lambda: os.setxattr(file.fileno(), "user.empty", b""))
print(sorted(os.listxattr("f")))
shutil.copy2("f", "g")
print(sorted(os.listxattr("g")))
attempt(lambda: os.removexattr("f", "user.note"))
attempt(lambda: os.removexattr("f", "user.note"))
