import sys
def f(x):
    y = 2
    print(locals(), sorted(sys._getframe().f_locals), f.__code__.co_varnames, f.__code__.co_filename.endswith("main.py"))
f(1)
print(sys._getframe().f_globals is globals(), sys._getframe().f_code.co_name, sys._getframe().f_code.co_filename.endswith("main.py"))
