import reprlib
class Point:
    def __init__(self, x): self.x = x
    def __repr__(self): return f"Point({self.x})"
print([Point(1)], {Point(2)}, reprlib.repr(list(range(100))), str(Point(3)), f"{Point(4)}")
nested = []
nested.append(nested)
print(nested, repr("it's"), repr('say "hi"'), repr("both ' and \""), repr("\x00\n\t\x7f\xa0"))
