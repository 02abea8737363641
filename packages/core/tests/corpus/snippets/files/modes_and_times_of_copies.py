import os, pathlib, shutil, stat, tarfile, tempfile

def about(path):
    info = os.lstat(path)
    return oct(stat.S_IMODE(info.st_mode)), info.st_mtime_ns

os.makedirs("tree/inner")
for name, mode in (("run.sh", 0o755), ("notes.txt", 0o640), ("inner/data.bin", 0o444)):
    path = pathlib.Path("tree", name)
    path.write_text("#!/bin/sh\necho hello\n")
    path.chmod(mode)
    os.utime(path, ns=(1_000_000_000_123_456_000, 1_500_000_000_654_321_000))
shutil.copy2("tree/run.sh", "copy.sh")
shutil.copytree("tree", "second")
with tarfile.open("tree.tar", "w") as archive:
    archive.add("tree")
with tarfile.open("tree.tar") as archive:
    archive.extractall("out", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
for path in ("tree/run.sh", "copy.sh", "second/notes.txt", "second/inner/data.bin", "out/tree/run.sh", "out/tree/inner/data.bin"):
    mode, time = about(path)
    print(path, mode, time // 1_000_000_000)
print(os.popen("./copy.sh").read(), os.access("second/run.sh", os.X_OK), os.access("tree/notes.txt", os.X_OK))

with tempfile.NamedTemporaryFile("w", dir=".") as file:
    os.fchmod(file.fileno(), 0o604)
    os.utime(file.fileno(), (7, 8))
    print(about(file.name))
os.symlink("copy.sh", "link")
os.utime("link", (3, 4), follow_symlinks=False)
os.chmod("link", 0o700)
print(about("link")[1], about("copy.sh"))
folder = os.open("tree", os.O_RDONLY)
os.chmod("notes.txt", 0o600, dir_fd=folder)
os.utime("notes.txt", (5, 6), dir_fd=folder)
print(about("tree/notes.txt"))
os.chown("copy.sh", os.getuid(), os.getgid())
os.chown("copy.sh", -1, -1)
for call in (
    lambda: os.chmod("missing", 0o600), lambda: os.utime("missing"), lambda: os.chown("missing", -1, -1), lambda: os.chmod("copy.sh/x", 0o600),
    lambda: os.chmod("", 0o600), lambda: os.chmod("a" * 300, 0o600),
    lambda: os.fchmod(999, 0o600), lambda: pathlib.Path("copy.sh").touch(exist_ok=False),
):
    try:
        print(call())
    except OSError as error:
        print(type(error).__name__, error.errno)
pathlib.Path("new").touch()
before = os.stat("copy.sh").st_mtime
pathlib.Path("copy.sh").touch()
print(os.path.exists("new"), os.stat("copy.sh").st_mtime > before)
