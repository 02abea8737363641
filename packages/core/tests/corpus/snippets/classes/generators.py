def countdown(n):
    while n:
        received = yield n
        n = received if received is not None else n - 1
    return "done"
generator = countdown(3)
print(next(generator), generator.send(10), next(generator))
generator.close()
def outer():
    result = yield from countdown(1)
    print("result", result)
print(list(outer()), sum(x * x for x in range(10)), [*map(str, range(3))])
def broken():
    yield 1
    raise ValueError("in a generator")
for item in broken():
    print(item)
