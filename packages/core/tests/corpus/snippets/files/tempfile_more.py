import os, stat, tempfile
print(tempfile.gettempdir() == os.environ["TMPDIR"], tempfile.gettempprefix())
with tempfile.NamedTemporaryFile("w+", suffix=".txt", prefix="note-") as file:
    file.write("text"); file.flush()
    print(os.path.basename(file.name)[:5], file.name[-4:], open(file.name).read(), oct(stat.S_IMODE(os.stat(file.name).st_mode)))
print(os.path.exists(file.name))
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(f"{folder}/sub"); open(f"{folder}/sub/file", "w").close(); os.chmod(f"{folder}/sub", 0o500)
    print(oct(stat.S_IMODE(os.stat(folder).st_mode)), os.listdir(folder))
print(os.path.exists(folder))
with tempfile.SpooledTemporaryFile(max_size=10) as spooled:
    spooled.write(b"12345"); first = spooled._rolled; spooled.write(b"6789012345"); print(first, spooled._rolled, spooled.tell())
with tempfile.TemporaryFile() as file:
    file.write(b"x" * 100_000); file.seek(-3, 2)
    print(file.read(), os.fstat(file.fileno()).st_nlink, os.readlink(f"/proc/self/fd/{file.fileno()}").endswith("(deleted)"))
fd, path = tempfile.mkstemp(dir=".", text=True); os.close(fd); print(os.path.isabs(path), os.path.dirname(path) == os.getcwd())
kept = tempfile.mkdtemp(dir=os.getcwd()); os.rmdir(kept)
tempfile.TemporaryDirectory(dir=".")
forgotten = tempfile.TemporaryDirectory(dir=".")
try:
    tempfile.mkstemp(dir="missing")
except FileNotFoundError as error:
    print(error.strerror)
tempfile.tempdir = os.getcwd(); print(tempfile.gettempdir() == os.getcwd())
