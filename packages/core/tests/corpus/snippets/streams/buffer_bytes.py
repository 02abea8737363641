import sys
sys.stdout.write("text first\n")
sys.stdout.flush()
sys.stdout.buffer.write(b"bytes \xc3\xa9\n")
sys.stdout.buffer.flush()
print("done")
