class Loud:
    def __del__(self):
        raise RuntimeError("in __del__")
loud = Loud()
del loud
print("goes on")
