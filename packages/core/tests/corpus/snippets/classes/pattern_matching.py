def describe(value):
    match value:
        case {"type": "circle", "r": float() | int() as r}: return f"circle {r}"
        case [x, y, *rest] if x == y: return f"pair {x} then {rest}"
        case str() as text: return f"text {text}"
        case (1 | 2 | 3): return "small"
        case None: return "none"
        case _: return "other"
for value in ({"type": "circle", "r": 2}, [1, 1, 2, 3], "hi", 2, None, 3.5):
    print(describe(value))
