import shutil, subprocess, sys, os
print(os.path.samefile(shutil.which("python"), sys.executable), shutil.which("python") == sys.executable)
print(os.path.dirname(shutil.which("python3")) == os.path.dirname(sys.executable))
print(subprocess.check_output(["python", "-c", "import sys; print(sys.prefix)"], text=True).strip() == sys.prefix)
open("tool", "w").write("#!/usr/bin/env python3\nimport sys\nprint('shebang', sys.argv[1:], sys.prefix == '%s')\n" % sys.prefix)
os.chmod("tool", 0o755)
print(subprocess.run(["./tool", "a"], capture_output=True, text=True).stdout)
