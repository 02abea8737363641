print("Hello, world!")
print("a", "b", sep="-", end="!\n")
print()
