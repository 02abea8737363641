# env: {"PYTHONBREAKPOINT": "0"}
print("before")
breakpoint()
print("after")
