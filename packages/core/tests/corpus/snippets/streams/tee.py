import sys
class Tee:
    def __init__(self, *streams):
        self.streams = streams
    def write(self, text):
        for stream in self.streams:
            stream.write(text)
        return len(text)
    def flush(self):
        for stream in self.streams:
            stream.flush()
with open("log.txt", "w") as log:
    sys.stdout = Tee(sys.__stdout__, log)
    print("both")
    sys.stdout = sys.__stdout__
print(open("log.txt").read(), end="")
