import os, sys
print("one")
sys.stdout.flush()
os.write(1, b"two\n")
os.write(2, b"three\n")
with open(1, "w", closefd=False) as again:
    again.write("four\n")
print("five")
