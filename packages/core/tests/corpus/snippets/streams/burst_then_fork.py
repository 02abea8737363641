import os
import sys
import warnings

warnings.simplefilter("always")
for number in range(5000):
    print("parent", number)
sys.stdout.flush()
if os.fork() == 0:
    for number in range(5000):
        print("child", number)
    sys.exit(0)
os.wait()
print("end")
