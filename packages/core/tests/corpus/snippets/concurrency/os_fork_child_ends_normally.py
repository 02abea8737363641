import os, sys
if os.fork() == 0:
    print("child says bye")
    sys.exit(0)
os.wait()
print("parent says bye")
