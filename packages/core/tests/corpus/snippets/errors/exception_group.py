# python: 11
def work():
    raise ExceptionGroup("several", [ValueError("one"), TypeError("two"), ExceptionGroup("inner", [KeyError("three")])])
try:
    work()
except* ValueError as group:
    print("handled", group.exceptions)
