import os
for path in ("/usr/new-file", "/etc/new-file", "/new-file", "/bin/sh"):
    try:
        open(path, "a").close()
        print("written", path)
    except OSError as error:
        print(type(error).__name__ in ("PermissionError", "OSError"))
