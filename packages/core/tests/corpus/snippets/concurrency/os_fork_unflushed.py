import os
print("printed twice, as it was not flushed")
if os.fork():
    os.wait()
