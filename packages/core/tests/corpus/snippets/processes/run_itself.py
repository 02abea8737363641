import subprocess, sys
if len(sys.argv) > 1:
    print("child got", sys.argv[1:])
else:
    print(subprocess.run([sys.executable, __file__, "again"], capture_output=True, text=True))
