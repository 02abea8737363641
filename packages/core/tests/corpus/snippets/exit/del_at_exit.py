class Resource:
    def __init__(self, name): self.name = name
    def __del__(self): print("closing", self.name)
kept = Resource("kept until the end")
temporary = Resource("temporary")
del temporary
print("main is done")
