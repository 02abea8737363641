import sys
for name in ("stdin", "stdout", "stderr"):
    stream = getattr(sys, name)
    print(name, stream.name, stream.mode, stream.encoding, stream.errors, stream.newlines)
    print(stream.isatty(), stream.readable(), stream.writable(), stream.seekable(), stream.fileno())
    print(type(stream).__name__, type(stream.buffer).__name__, type(stream.buffer.raw).__name__)
    print(stream.write_through, stream.closed)
    print(stream.buffer.name, stream.buffer.raw.name, stream.buffer.raw.mode, stream.buffer.raw.closefd)
print(sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
