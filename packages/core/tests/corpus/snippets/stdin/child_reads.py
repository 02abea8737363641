# stdin: "for the child\n"
import subprocess, sys
print(subprocess.run([sys.executable, "-c", "print(input().upper())"], capture_output=True, text=True).stdout, end="")
