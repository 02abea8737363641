import fcntl, mmap, os, struct, subprocess, sys
with open("data.bin", "wb") as file: file.write(bytes(range(256)) * 64)
with open("data.bin", "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
    print(len(view), view[:4], view.find(b"\x10\x11"), view.rfind(b"\xff"), struct.unpack_from("<H", view, 2))
    view[0:5] = b"hello"; view.flush(); view.seek(0); print(view.readline()[:6], view.size())
    view.move(10, 0, 5); print(view[10:15]); view.resize(8192); print(len(view), os.path.getsize("data.bin"))
with open("data.bin", "rb") as file, mmap.mmap(file.fileno(), 100, access=mmap.ACCESS_READ) as view:
    try:
        view[0] = 1
    except TypeError as error:
        print(error)
CHILD = "import fcntl\nfile = open('lock', 'w')\ntry:\n    fcntl.{}(file, fcntl.LOCK_EX | fcntl.LOCK_NB); print('got it')\nexcept OSError as error:\n    print(error)"
for call in (fcntl.flock, fcntl.lockf):
    with open("lock", "w") as file:
        call(file, fcntl.LOCK_EX); print(subprocess.check_output([sys.executable, "-c", CHILD.format(call.__name__)], text=True), end="")
        call(file, fcntl.LOCK_UN); print(subprocess.check_output([sys.executable, "-c", CHILD.format(call.__name__)], text=True), end="")
    print(fcntl.fcntl(0, fcntl.F_GETFD), fcntl.fcntl(1, fcntl.F_GETFL) & os.O_ACCMODE)
try:
    fd = os.open("exclusive", os.O_CREAT | os.O_EXCL); os.close(fd); os.open("exclusive", os.O_CREAT | os.O_EXCL)
except FileExistsError as error:
    print(error)
print(os.statvfs(".").f_bsize > 0, os.path.getsize("data.bin"), os.stat("data.bin").st_blksize)
mmap.mmap(-1, 0)
