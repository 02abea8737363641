import fcntl, os, termios, tty
print(fcntl.fcntl(1, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY)
try:
    termios.tcgetattr(0)
except termios.error as error:
    print(error)
