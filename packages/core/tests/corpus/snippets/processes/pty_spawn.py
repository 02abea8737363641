import os, pty, sys
def read(fd):
    data = os.read(fd, 1024)
    return data
sys.stdout.flush()
status = pty.spawn(["sh", "-c", "test -t 1 && echo is a terminal"], read)
print(os.waitstatus_to_exitcode(status))
