import sys
try:
    raise ValueError("replaced")
finally:
    sys.exit(2)
