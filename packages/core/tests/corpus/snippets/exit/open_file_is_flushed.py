import atexit
file = open("out.txt", "w")
file.write("never closed by hand")
atexit.register(lambda: (file.flush(), print(open("out.txt").read())))
