# env: {"PYTHONDONTWRITEBYTECODE": "1"}
# files: {"part.py": "x = 1"}
import os, sys, part
print(sys.dont_write_bytecode, os.path.exists("__pycache__"), part.x)
