import contextlib, io
buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("captured")
    help(len)
print(repr(buffer.getvalue()[:40]))
with contextlib.redirect_stderr(io.StringIO()) as errors:
    import sys
    print("oops", file=sys.stderr)
print(errors.getvalue(), end="")
