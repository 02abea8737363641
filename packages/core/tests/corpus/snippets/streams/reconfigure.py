import sys
sys.stdout.reconfigure(encoding="utf-8", errors="replace")
sys.stderr.reconfigure(line_buffering=True)
print("naïve café ☕")
print(sys.stdout.encoding, sys.stdout.errors, sys.stderr.line_buffering)
