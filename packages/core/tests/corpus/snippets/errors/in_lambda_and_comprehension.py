items = ["1", "2", "x"]
print(sorted(items, key=lambda item: int(item)))
