import inspect, sys
def outer():
    return inner()
def inner():
    return [(frame.function, frame.lineno, frame.code_context[0].strip()) for frame in inspect.stack()]
print(outer(), len(inspect.stack()), sys._getframe().f_back, sys._getframe(0).f_code.co_name)
try:
    sys._getframe(1)
except ValueError as error:
    print(error)
print(inspect.currentframe().f_lineno, inspect.getframeinfo(inspect.currentframe()).function)
