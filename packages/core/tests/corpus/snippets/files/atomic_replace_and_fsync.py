import os, tempfile, pathlib, stat
with tempfile.NamedTemporaryFile("w", dir=".", delete=False, suffix=".tmp") as file:
    file.write("new"); file.flush(); os.fsync(file.fileno())
os.replace(file.name, "target.txt")
print(pathlib.Path("target.txt").read_text(), stat.filemode(os.stat("target.txt").st_mode), sorted(os.listdir(".")))
fd = os.open("log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o640)
os.write(fd, b"a"); os.pwrite(fd, b"b", 0); os.lseek(fd, 0, 0); os.write(fd, b"c"); os.close(fd)
print(open("log").read(), os.path.getsize("log"), oct(os.stat("log").st_mode))
with os.scandir(".") as entries: print(sorted((entry.name, entry.is_file(), entry.stat().st_size) for entry in entries if entry.name != "main.py"))
