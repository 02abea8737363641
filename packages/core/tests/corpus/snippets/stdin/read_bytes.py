# stdin: "a,b\r\n1,2\r\n"
import sys
print(sys.stdin.buffer.read())
print(sys.stdin.read() == "")
