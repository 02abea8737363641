import sys
for operation in (lambda: sys.stdout.tell(), lambda: sys.stdout.seek(0), lambda: sys.stdout.buffer.raw.tell()):
    try:
        print(operation())
    except OSError as error:
        print(type(error).__name__, error.errno)
