# stdin: "one\ntwo\n"
import select, sys, os, stat
print(select.select([sys.stdin], [], [], 0)[0] == [sys.stdin], stat.S_ISFIFO(os.fstat(0).st_mode), sys.stdin.readable(), sys.stdin.fileno())
print([line.rstrip() for line in sys.stdin], sys.stdin.read(), sys.stdin.closed, sys.stdin.encoding, sys.stdin.errors)
