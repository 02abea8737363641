import os, sys
print("before")
sys.stdout.flush()
saved = os.dup(1)
with open("captured.txt", "wb") as target:
    os.dup2(target.fileno(), 1)
    os.system("echo from the shell")
    print("from python")
    sys.stdout.flush()
    os.dup2(saved, 1)
os.close(saved)
print(open("captured.txt").read().splitlines())
