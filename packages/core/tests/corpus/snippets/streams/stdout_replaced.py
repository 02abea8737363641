import builtins, contextlib, io, os, subprocess, sys
class Upper(io.TextIOBase):
    def write(self, text): return sys.__stdout__.write(text.upper())
    def flush(self): sys.__stdout__.flush()
sys.stdout = Upper(); print("in upper case"); sys.stdout = sys.__stdout__
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out): print("kept"); print("also", file=sys.stderr); help(len)
print(repr(out.getvalue()[:40]), flush=True)
with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing): print("gone"); subprocess.run(["echo", "from a child"])
saved = os.dup(1)
with open("captured.txt", "wb") as file:
    sys.stdout.flush(); os.dup2(file.fileno(), 1); print("by descriptor"); subprocess.run(["echo", "and its child"]) if not sys.stdout.flush() else None; os.dup2(saved, 1)
print(open("captured.txt").read().splitlines())
printed = builtins.print
builtins.print = lambda *values, **options: printed("~", *values, **options); print("patched"); builtins.print = printed
print("a", "b", sep="", end="!\n", flush=True); print(*range(3), sep=", "); print(end=""); print(None, file=None)
sys.stdout.writelines(["one\n", "two\n"]); print(sys.stdout.write("three\n"), sys.stdout.line_buffering in (True, False), sys.stdout.errors, flush=True)
writer = open(1, "w", closefd=False); writer.write("by another file\n"); writer.close(); os.write(2, b"raw error\n")
sys.displayhook(3); sys.stdout.write(b"bytes")
