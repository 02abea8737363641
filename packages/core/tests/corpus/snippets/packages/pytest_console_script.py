# packages: ["pytest"]
import shutil, subprocess, sys, os
print(os.path.dirname(shutil.which("pytest")) == os.path.dirname(sys.executable))
open("test_a.py", "w").write("def test_a(): pass\n")
result = subprocess.run(["pytest", "-q", "--no-header"], capture_output=True, text=True)
print(result.returncode, "1 passed" in result.stdout)
