# long: true
import os, subprocess, sys
open("data.json", "w").write('{"b": [1, 2], "a": null}')
open("tool.py", "w").write("import os\ndef f(x):\n    \"\"\"\n    >>> f(1)\n    3\n    \"\"\"\n    return x  + 1\n")
open("test_tool.py", "w").write("import unittest, tool\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(tool.f(1), 3)\n")
def run(*arguments, input=None):
    ended = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, input=input)
    print(arguments, ended.returncode, ended.stdout[-600:], ended.stderr[-600:])
def module(*arguments): run("-m", *arguments)
module("json.tool", "--sort-keys", "data.json"); module("compileall", "-q", "."); module("py_compile", "tool.py"); module("tokenize", "-e", "tool.py"); module("ast", "tool.py")
module("tabnanny", "-v", "tool.py"); module("calendar", "2024", "2"); module("base64", "-e", "data.json"); module("unittest", "test_missing")
module("zipfile", "-c", "a.zip", "data.json"); module("zipfile", "-t", "a.zip"); module("tarfile", "-c", "a.tar", "data.json"); module("tarfile", "-l", "a.tar"); module("gzip", "data.json")
module("pydoc", "tool"); module("doctest", "tool.py"); module("nothing_here"); module("json"); module("test_tool")
run("-", "x", input="import sys; print(sys.argv, __name__)"); run("-c", "import sys; print(sys.argv, sys.flags.optimize, __debug__)", "a"); run("-O", "-c", "assert False; print(__debug__)")
run("-W", "error", "-c", "import warnings; warnings.warn('x')"); run("-V"); run("missing.py"); run(".")
run("-B", "-E", "-s", "-u", "-c", "import sys; print(sys.flags.dont_write_bytecode, sys.flags.ignore_environment, sys.flags.no_user_site, sys.stdout.line_buffering)")
