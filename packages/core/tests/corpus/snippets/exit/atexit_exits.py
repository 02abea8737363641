import atexit, sys
atexit.register(sys.exit, 5)
print("main")
