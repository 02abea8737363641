import sys, traceback
def inner():
    raise KeyError("deep")
def outer():
    inner()
try:
    outer()
except KeyError:
    traceback.print_exc()
    print(traceback.format_exc().count("\n"))
    kind, value, trace = sys.exc_info()
    print(traceback.extract_tb(trace))
    print(traceback.format_exception_only(kind, value))
traceback.print_stack()
