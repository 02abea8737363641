import os
try:
    fd = os.memfd_create("name")
    os.write(fd, b"in memory"); print(os.pread(fd, 20, 0))
except OSError as error:
    print(error)
