import sys
print("to stdout")
print("to stderr", file=sys.stderr)
sys.stderr.write("no newline at the end")
sys.stdout.write("none here either")
