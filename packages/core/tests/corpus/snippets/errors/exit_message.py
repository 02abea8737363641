import sys
print("output")
sys.exit("fatal: something is wrong")
