def generator():
    yield 1
    raise StopIteration("inside")
print(next(iter([])) if False else "before")
for item in generator():
    print(item)
