import errno, os
for number in (errno.ENOENT, errno.EACCES, errno.EEXIST, errno.ENOSPC, errno.EPIPE):
    error = OSError(number, os.strerror(number), "name")
    print(type(error).__name__, error, errno.errorcode[number])
raise OSError(errno.EIO, "custom", "file.txt")
