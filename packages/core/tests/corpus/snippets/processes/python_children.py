import subprocess, sys
code = "import sys; print(sys.version_info[:2], sys.flags.isolated, sys.flags.no_site, sys.flags.no_user_site, sys.argv, __name__)"
for python in (sys.executable, "python", "python3"):
    result = subprocess.run([python, "-c", code, "x"], capture_output=True, text=True)
    print(result.stdout, result.stderr, result.returncode, result.stdout.startswith(str(sys.version_info[:2])))
result = subprocess.run([sys.executable, "-c", "1/0"], capture_output=True, text=True)
print(result.stderr)
