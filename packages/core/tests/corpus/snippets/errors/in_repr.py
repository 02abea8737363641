class Bad:
    def __repr__(self):
        raise RuntimeError("no repr")
print("start")
print(Bad())
