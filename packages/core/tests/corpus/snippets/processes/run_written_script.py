import subprocess, sys
open("helper.py", "w").write("import sys\nprint('helper', __name__, sys.argv)\nfrom other import value\nprint(value)\n")
open("other.py", "w").write("value = 41 + 1\n")
print(subprocess.run([sys.executable, "helper.py", "arg"], capture_output=True, text=True).stdout)
print(subprocess.run([sys.executable, "-m", "helper"], capture_output=True, text=True).stdout)
