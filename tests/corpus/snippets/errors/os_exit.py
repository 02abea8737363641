import atexit, os
atexit.register(print, "not run")
print("flushed", flush=True)
print("lost in the buffer")
os._exit(9)
