try:
    open("missing.txt")
except FileNotFoundError as error:
    print(error, error.errno, error.filename)
open("also-missing.txt")
