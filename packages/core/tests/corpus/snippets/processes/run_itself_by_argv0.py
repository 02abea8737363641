import os, subprocess, sys
print(sys.argv)
if os.environ.get("LEVEL") is None:
    os.environ["LEVEL"] = "1"
    print(subprocess.check_output([sys.executable, *sys.argv, "deeper"], text=True), end="")
