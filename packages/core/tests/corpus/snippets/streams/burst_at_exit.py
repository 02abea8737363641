import atexit
import sys


class Loud:
    def __del__(self):
        print("deleted")


def late():
    for number in range(3000):
        print("late", number)


atexit.register(late)
loud = Loud()
for number in range(5000):
    print("line", number)
sys.stdout.write("half a line")
sys.exit(3)
