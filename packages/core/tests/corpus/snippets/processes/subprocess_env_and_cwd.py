import os, subprocess, sys
os.mkdir("sub")
print(subprocess.run(["pwd"], cwd="sub", capture_output=True, text=True).stdout.strip().endswith("/sub"))
print(subprocess.check_output("echo $GREETING", shell=True, env={**os.environ, "GREETING": "hi"}, text=True))
os.environ["ADDED"] = "yes"
print(subprocess.check_output(["sh", "-c", "echo $ADDED $0"], text=True))
print(subprocess.check_output([sys.executable, "-c", "import os; print(os.environ['ADDED'])"], text=True))
print(subprocess.run(["env"], env={}, capture_output=True).stdout)
