open("broken.py", "w").write("import sys\n\ndef f():\n    raise RuntimeError('inside the module')\n\nf()\n")
import broken
