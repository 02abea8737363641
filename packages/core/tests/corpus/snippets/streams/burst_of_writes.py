import contextlib
import io
import logging
import sys

for number in range(1200):
    sys.stdout.write(f"written {number}\n")
for number in range(1200):
    print("flushed", number, flush=True)
for number in range(1200):
    print(number, end="\r" if number % 2 else " ")
print()
logging.basicConfig(stream=sys.stdout, format="%(message)s")
for number in range(1200):
    logging.warning("logged %s", number)
sys.stdout.writelines(f"line {number}\n" for number in range(1200))
with contextlib.redirect_stdout(io.StringIO()) as text:
    for number in range(1200):
        print(number)
print(len(text.getvalue()))
print("ż" * 2000)
for number in range(1200):
    print("error", number, file=sys.stderr)
sys.stdout.flush()
sys.stdout.buffer.write(b"bytes\n")
sys.stdout.buffer.flush()
sys.stdout.reconfigure(encoding="latin-1")
for number in range(1200):
    print("é", number)
