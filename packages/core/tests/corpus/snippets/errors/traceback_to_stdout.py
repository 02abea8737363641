import sys, traceback
def f():
    g = lambda: 1 / 0
    return g()
try:
    f()
except ZeroDivisionError as error:
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stdout)
    print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
    print([line.strip() for line in traceback.format_stack()])
