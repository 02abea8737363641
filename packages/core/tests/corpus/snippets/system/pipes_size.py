import fcntl, os
r, w = os.pipe()
print(fcntl.fcntl(w, 1032), os.fpathconf(w, "PC_PIPE_BUF"))
os.set_blocking(w, False)
total = 0
try:
    while True:
        total += os.write(w, b"x" * 4096)
except BlockingIOError as error:
    print(total, error)
