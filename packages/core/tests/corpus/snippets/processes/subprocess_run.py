import subprocess
result = subprocess.run(["echo", "hello"], capture_output=True, text=True, check=True)
print(repr(result.stdout), result.returncode, result)
print(subprocess.check_output("echo $((6*7)) | tr 4 x", shell=True, text=True))
try:
    subprocess.run(["false"], check=True)
except subprocess.CalledProcessError as error:
    print(error)
try:
    subprocess.run(["no-such-program"])
except FileNotFoundError as error:
    print(error)
