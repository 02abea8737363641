import importlib, os, py_compile
open("m.py", "w").write("x = 1\n")
import m
print(os.path.exists("__pycache__"), m.__cached__.endswith(".pyc"))
print(os.path.exists(py_compile.compile("m.py")))
