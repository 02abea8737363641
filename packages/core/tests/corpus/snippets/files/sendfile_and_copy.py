import os, shutil
open("big", "wb").write(b"0123456789" * 100_000)
shutil.copyfile("big", "copy")
print(os.path.getsize("copy"), open("copy", "rb").read() == open("big", "rb").read())
with open("big", "rb") as source, open("sent", "wb") as target:
    try:
        print(os.sendfile(target.fileno(), source.fileno(), 0, 1000))
    except OSError as error:
        print(error)
