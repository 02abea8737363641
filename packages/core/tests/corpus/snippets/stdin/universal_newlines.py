# stdin: "a\r\nb\rc\n"
import sys
print(sys.stdin.read().splitlines())
print(sys.stdin.newlines)
