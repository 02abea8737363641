# stdin: "x = 2\nprint(x * 3)\n1/0\n"
import code, sys
code.interact(banner="hello", exitmsg="bye", local={})
print(hasattr(sys, "ps1"), sys.flags.interactive, hasattr(sys, "last_value"))
