import os, tempfile
with tempfile.TemporaryDirectory() as folder:
    print(os.path.isdir(folder), folder.startswith(tempfile.gettempdir()))
print(os.path.exists(folder))
with tempfile.NamedTemporaryFile("w+", suffix=".txt", prefix="x-") as file:
    file.write("hello")
    file.seek(0)
    print(file.read(), os.path.basename(file.name)[:2], oct(os.stat(file.name).st_mode & 0o777))
with tempfile.TemporaryFile() as file:
    print(file.write(b"abc"), isinstance(file.name, int))
with tempfile.SpooledTemporaryFile(max_size=10) as spooled:
    spooled.write(b"x" * 20)
    print(spooled._rolled)
fd, path = tempfile.mkstemp()
os.close(fd)
print(os.path.getsize(path), os.access(tempfile.gettempdir(), os.W_OK))
