import subprocess, sys
print("parent first", flush=True)
subprocess.run(["echo", "child on stdout"])
subprocess.run("echo child on stderr >&2", shell=True)
print("parent last")
