# env: {"PYTHONPATH": "lib:missing"}
# files: {"lib/helper.py": "def greet(): return 'from lib'"}
import os, subprocess, sys
import helper
print(helper.greet(), [os.path.relpath(path) for path in sys.path[:3]])
print(subprocess.run([sys.executable, "-c", "import helper; print(helper.greet())"], capture_output=True, text=True).stdout)
