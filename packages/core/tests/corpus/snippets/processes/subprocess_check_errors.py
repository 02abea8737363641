import subprocess, sys
for command in (["false"], ["no-such-program"], ["sh", "-c", "echo out; echo err >&2; exit 3"]):
    try: subprocess.run(command, check=True, capture_output=True, text=True)
    except (subprocess.CalledProcessError, FileNotFoundError) as error: print(type(error).__name__, error, getattr(error, "stderr", None))
print(subprocess.getstatusoutput("ls /nope; echo done"), subprocess.check_output("printf '%s' x", shell=True))
subprocess.run([sys.executable, "-c", "raise SystemExit(5)"], check=True)
