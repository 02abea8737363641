import os, shutil, sys
print(sys.stdin.isatty(), sys.stdout.isatty(), os.isatty(2))
print(shutil.get_terminal_size())
try:
    os.get_terminal_size()
except OSError as error:
    print(error.errno)
