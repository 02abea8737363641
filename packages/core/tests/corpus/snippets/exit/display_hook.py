import sys
sys.displayhook([1, 2])
sys.displayhook(None)
print(_)
