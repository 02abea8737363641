import sys
real = sys.stdout
sys.stdout = None
print("swallowed")
sys.stdout = real
print("heard")
