import inspect, sys
print(inspect.getsource(sys.modules["__main__"]))
