import subprocess, sys
result = subprocess.run([sys.executable, "-m", "json.tool", "--sort-keys"], input='{"b": 1, "a": [1, 2]}', text=True, capture_output=True)
print(result.stdout, result.stderr, result.returncode)
