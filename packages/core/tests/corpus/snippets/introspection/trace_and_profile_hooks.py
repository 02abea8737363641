import sys
calls = []
def tracer(frame, event, arg):
    calls.append((event, frame.f_code.co_name, frame.f_lineno))
    return tracer
def f(x):
    y = x
    return y
sys.settrace(tracer)
f(1)
sys.settrace(None)
print(calls)
