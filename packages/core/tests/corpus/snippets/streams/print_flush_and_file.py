import io
out = io.StringIO()
print("x", 1, None, [1, 2], file=out, flush=True)
print(out.getvalue(), end="")
print(*range(5), sep=", ")
print("no newline", end="")
