import sys
class Broken:
    def write(self, text): return len(text)
    def flush(self): raise OSError("cannot flush")
sys.stdout = Broken()
print("x")
