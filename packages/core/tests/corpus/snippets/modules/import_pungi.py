import importlib.util
print(importlib.util.find_spec("pungi"))
try:
    import pungi
    print(pungi)
except ImportError as error:
    print(type(error).__name__, error)
