import sys
def hook(kind, value, trace):
    print("hook:", kind.__name__, value, trace.tb_lineno)
sys.excepthook = hook
print("before")
raise ValueError("handled by the hook")
