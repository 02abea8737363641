try:
    "x" * (1 << 62)
except MemoryError as error:
    print("MemoryError", error.args)
try:
    [0] * (1 << 62)
except (MemoryError, OverflowError) as error:
    print(type(error).__name__)
raise MemoryError("my own")
