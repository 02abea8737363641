import io, sys
print(sys.stdout.line_buffering in (True, False), sys.stdout.write_through, sys.stdout.newlines, sys.stderr.line_buffering)
sys.stdout.write("a"); sys.stdout.flush()
buffer = sys.stdout.detach()
buffer.write(b"raw\n"); buffer.flush()
sys.stdout = io.TextIOWrapper(buffer, encoding="ascii", errors="backslashreplace")
print("ü\u4e2d")
