import os
with open("sparse", "wb") as file:
    file.seek(1_000_000)
    file.write(b"end")
print(os.path.getsize("sparse"), os.stat("sparse").st_blocks < 100)
fd = os.open("allocated", os.O_RDWR | os.O_CREAT)
os.posix_fallocate(fd, 0, 4096)
print(os.fstat(fd).st_size)
os.ftruncate(fd, 10)
print(os.pread(fd, 20, 0))
