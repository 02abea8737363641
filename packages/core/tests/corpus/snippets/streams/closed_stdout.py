import sys
print("last words")
sys.stdout.close()
try:
    print("nobody hears this")
except ValueError as error:
    print(error, file=sys.stderr)
