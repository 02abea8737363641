import atexit, sys
atexit.register(lambda: print(getattr(sys, "last_type", None), getattr(sys, "last_value", None)))
raise ValueError("remembered")
