import subprocess, sys
for options in (["-c", "import sys; print(sys.argv)", "a"], ["-m", "this"], ["-V"], ["-E", "-c", "print(__name__)"], ["-"], ["-X", "importtime", "-c", "pass"], ["-m", "json.tool", "--help"], ["-O", "-c", "print(__debug__)"]):
    ended = subprocess.run([sys.executable, *options], input="print('from stdin')", capture_output=True, text=True)
    print(options, ended.returncode, ended.stdout[:60].splitlines()[:2], ended.stderr[:40].splitlines()[:1])
