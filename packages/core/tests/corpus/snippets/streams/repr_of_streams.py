import sys
print(sys.stdin, sys.stdout, sys.stderr, sep="\n")
print(sys.stdout.buffer)
print(sys.stdout.buffer.raw)
