import sys
print(ascii("\udc80"))
try:
    print("\udc80")
except UnicodeEncodeError as error:
    print(type(error).__name__, error.reason)
print("\udc80", file=sys.stderr)
