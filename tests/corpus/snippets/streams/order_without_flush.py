import os
print("buffered by Python on a pipe")
os.write(1, b"written at once\n")
