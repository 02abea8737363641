import atexit
atexit.register(print, "registered first, runs last")
atexit.register(print, "registered last, runs first")
@atexit.register
def failing():
    raise ValueError("in an exit handler")
print("main")
