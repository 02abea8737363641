import subprocess
print("before the child, but buffered")
subprocess.run(["echo", "child"])
