try:
    open("x" * 300, "w")
except OSError as error:
    print(error.errno, error.strerror)
try:
    open("a\0b")
except ValueError as error:
    print(error)
