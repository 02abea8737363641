# stdin: "Ann\n42\nmaybe\nyes\nlast line without newline"
import sys
name = input("Name: ")
age = int(input("Age: "))
while (answer := input("Continue (yes/no)? ")) not in ("yes", "no"):
    print(f"not {answer!r}", file=sys.stderr)
print(f"{name} is {age}; {answer}")
try:
    import readline
    readline.add_history("x"); print(readline.get_history_item(readline.get_current_history_length()))
    readline.set_completer(lambda text, state: None); readline.parse_and_bind("tab: complete")
except ImportError as error:
    print(error)
print(sys.stdin.fileno(), sys.stdin.isatty(), sys.stdin.encoding, sys.stdin.errors, sys.stdin.name, sys.stdin.mode, sys.stdin.readable())
for line in sys.stdin: print(repr(line))
print(repr(sys.stdin.readline()), sys.stdin.buffer.read())
input("Again? ")
