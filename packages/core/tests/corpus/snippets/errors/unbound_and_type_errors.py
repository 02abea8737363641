def f():
    print(later)
    later = 1
for action in (f, lambda: "a" + 1, lambda: len(5), lambda: None.x, lambda: [][0], lambda: {}["k"], lambda: f(1), lambda: f(a=1), lambda: (1)(), lambda: int([]), lambda: [1] < 2, lambda: "x".join([1]), lambda: sorted([1, "a"])):
    try:
        action()
    except Exception as error:
        print(type(error).__name__, error)
