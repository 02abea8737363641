# env: {"PYTHONBREAKPOINT": "builtins.print"}
import os, sys
breakpoint("called", 1, sep="-")
os.environ["PYTHONBREAKPOINT"] = "os.path.basename"
print(breakpoint("/a/b"))
os.environ["PYTHONBREAKPOINT"] = "no_such.thing"
breakpoint()
os.environ["PYTHONBREAKPOINT"] = "0"
print(breakpoint(), sys.breakpointhook is sys.__breakpointhook__)
