open("bad.py", "w").write("x = 1\ndef broken(\n")
import bad
