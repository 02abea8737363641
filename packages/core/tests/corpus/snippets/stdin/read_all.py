# stdin: "first\nsecond\n\nüñï\n"
import sys
for number, line in enumerate(sys.stdin, 1):
    print(number, repr(line))
