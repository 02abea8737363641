import sys
try:
    sys.exit([1, 2])
except SystemExit as error:
    print(error.code)
raise SystemExit((1, 2))
