# long: true
import subprocess, sys, os
subprocess.run([sys.executable, "-m", "venv", "--without-pip", "v"], check=True)
print(subprocess.check_output(["v/bin/python", "-c", "import sys; print(sys.prefix.endswith('/v'))"], text=True))
