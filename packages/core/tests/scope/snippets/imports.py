# Each snippet begins with "#: name | profile | decision"; a decision is "allowed", or "static" (before the run) or "run"
# (while it runs) with rule and line. A fourth field names a package that it needs.
#: import os | strategic | static import 1
import os
#: import os after a comment and blank lines | strategic | static import 4
# nothing here

x = 1
import os
#: import of a part | strategic | static import 1
import os.path
#: import under another name | strategic | static import 1
import subprocess as math
#: the second of several | strategic | static import 1
import math, sys
#: from a blocked module | strategic | static import 1
from os import path
#: from a part of a blocked module | strategic | static import 1
from urllib.request import urlopen as get
#: star of a blocked module | strategic | static import 1
from socket import *
#: relative import | strategic | static import 1
from . import secrets
#: relative import of a module | strategic | static import 1
from .os import system
#: not blocked, but not allowed either | strategic | static import 1
import re
#: the C half of a blocked module | strategic | static import 1
import posix
#: the C half of a blocked module without a list of allowed ones | no-network | static import 1
import _socket
#: in a function that is never called | strategic | static import 2
def f():
    import shutil
#: in a class body | strategic | static import 2
class A:
    import os
#: in a branch that is never taken | strategic | static import 2
if False:
    import os
#: expecting it to be missing | strategic | allowed
try:
    import requests
except ImportError:
    requests = None
assert requests is None
#: expecting it to be missing, of several kinds | strategic | allowed
try:
    from os import path
    raise AssertionError("it was there")
except (ModuleNotFoundError, AttributeError) as error:
    assert error.name == "os", error
#: expecting it to be missing, in a branch of a class | strategic | allowed
found = []
try:
    class Reader:
        if True:
            import subprocess
except ImportError:
    found.append("fallback")
assert found == ["fallback"]
#: expecting something else | strategic | static import 2
try:
    import requests
except ValueError:
    requests = None
#: expecting anything | strategic | static import 2
try:
    import os
except Exception:
    pass
#: in the handler of what is missing | strategic | static import 4
try:
    import math
except ImportError:
    import os
#: after what is expected to be missing | strategic | static import 5
try:
    import math
except ImportError:
    pass
else: import os
#: in a function that is defined where a module may be missing | strategic | static import 3
try:
    def later():
        import os
except ImportError:
    pass
#: by name, where a module may be missing | strategic | static import 2
try:
    __import__("os")
except ImportError:
    pass
#: after a semicolon | strategic | static import 1
x = 1; import os
#: with a line continuation | strategic | static import 1
import \
    os
#: in parentheses over lines | strategic | static import 1
from os import (
    system,
)
#: fullwidth letters | strategic | static import 1
import ｏｓ
#: mathematical letters | strategic | static import 1
import 𝘰𝘴
#: __import__ with a constant | no-network | static import 1
__import__("socket")
#: __import__ with a name in pieces | no-network | static import 1
__import__("soc" + "ket")
#: __import__ with a name turned round | no-network | static import 1
__import__("tekcos"[::-1])
#: __import__ with a name from codes | no-network | static import 1
__import__("".join([chr(115), chr(111), "cket"]))
#: __import__ with a name that is only known when it runs | no-network | run import 2
name = "".join(sorted("tekcos", key="socket".index))
__import__(name)
#: __import__ with a decoded name | no-network | run import 2
import base64
__import__(base64.b64decode("c29ja2V0").decode())
#: import_module with a constant | no-network | static import 2
import importlib
importlib.import_module("socket")
#: import_module under another name | no-network | static import 2
from importlib import import_module as load
load("urllib.request")
#: import_module with a name in a variable | no-network | static import 3
import importlib
name = "sock" + "et"
importlib.import_module(name)
#: import_module with a name that is only known when it runs | no-network | run import 3
import importlib
for name in ["math", "socket"]:
    importlib.import_module(name)
#: importlib is not allowed | strategic | static import 1
import importlib
#: a specification and its loader | no-network | run import 4
import importlib.util
for name in ["socket"]:
    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
#: find_spec with a constant | no-network | static import 2
import importlib.util
importlib.util.find_spec("socket")
#: a loader that gives the file another name | no-network | run import 4
import importlib.util, importlib.machinery
path = importlib.util.find_spec("json").origin.replace("json/__init__", "soc" + str("ket"))
loader = importlib.machinery.SourceFileLoader("harmless", path)
module = loader.load_module()
#: exec_module under another name | no-network | run import 6
import importlib.util
path = importlib.util.find_spec("json").origin.replace("json/__init__", "".join(["soc", "ket"]))
spec = importlib.util.spec_from_file_location("harmless", path)
module = importlib.util.module_from_spec(spec)
assert module
spec.loader.exec_module(module)
#: the importer of built-in modules | no-system | run import 3
import importlib.machinery
name = "".join(reversed("xisop"))
importlib.machinery.BuiltinImporter.load_module(name)
#: run_module | no-network | static import 2
import runpy
runpy.run_module("socket")
#: run_module with a computed name | no-network | run import 2
import runpy
runpy.run_module("".join(reversed("tekcos")))
#: pkgutil.resolve_name | no-network | static import 2
import pkgutil
pkgutil.resolve_name("socket:socket")
#: pkgutil.resolve_name with a computed name | no-network | run import 2
import pkgutil
pkgutil.resolve_name("".join(reversed("tekcos")) + ":socket")
#: pydoc.locate | no-network | run import 2
import pydoc
pydoc.locate("".join(reversed("tekcos")) + ".socket")
#: logging.config resolves names | no-network | run import 2
import logging.config
logging.config.BaseConfigurator({}).resolve("".join(reversed("tekcos")) + ".socket")
#: mock.patch imports its target | no-network | run import 3
import unittest.mock
target = "".join(reversed("tekcos")) + ".socket"
unittest.mock.patch(target).start()
#: sys.modules | no-network | static import 2
import sys
sys.modules["socket"]
#: sys.modules.get | no-network | static import 2
import sys
sys.modules.get("socket")
#: a module of an allowed module | strategic | static import 2
import json
json.codecs.open("x")
#: sys of statistics | strategic | static import 2
import statistics
statistics.sys.modules
#: sys of collections with an underscore | strategic | static import 2
import collections
collections._sys.modules
#: through a variable | strategic | static import 3
import collections
c = collections
c._sys.modules
#: by getattr with a constant | strategic | static import 2
import collections
getattr(collections, "_sys").modules
#: by getattr with a name in pieces | strategic | static import 2
import collections
getattr(collections, "_s" + "ys")
#: by getattr with a computed name | strategic | run import 3
import collections
for name in ["_sys"]:
    getattr(collections, name)
#: by the module's dictionary | strategic | static import 2
import collections
collections.__dict__["_sys"]
#: by vars | strategic | static import 2
import collections
vars(collections)["_sys"]
#: by vars of a module that only the run knows | strategic | run introspection 3
import collections
for module in [collections]:
    vars(module)["_sys"]
#: from an allowed module, a blocked one | strategic | static import 1
from collections import _sys
#: from an allowed module, one that is not allowed | strategic | static import 1
from json import codecs
#: a module of a package that is not blocked by name | stand-in | run import 2
import frames
print(frames.reading.textwrap)
#: a module of a module that is loaded already | strategic | static import 2
import json
json.scanner.re
#: a part of a package with the name of a module that is not allowed | stand-in | allowed
import frames.pickle
print(frames.pickle.VERSION)
#: a text that claims to be the library | text-running | run import 4
import json
text = "__import__(''.join(reversed('so')))"
code = compile(text, json.__file__, "exec")
exec(code)
#: os of a package | stand-in | static import 2
import frames
frames.os.system("true")
#: os of a part of a package | stand-in | static import 2
import frames.reading as r
r.os.system("true")
#: from a package's part, os | stand-in | static import 1
from frames.reading import os
#: star of a package's part brings its modules | stand-in | run import 1
from frames.reading import *
#: an import in a text | text-running | static import 1
exec("import os")
#: an import in a text in a text | text-running | static import 1
exec("exec('import os')")
#: an import in a computed text | text-running | run import 1
exec("".join(reversed("so tropmi")))
#: an import in bytes | text-running | static import 1
exec(b"import os")
#: an import in a decoded text | text-running | run import 2
import base64
exec(base64.b64decode("aW1wb3J0IG9z"))
#: an import in a compiled text | text-running | run import 2
text = "".join(reversed("so tropmi"))
code = compile(text, "main2.py", "exec")
#: an import in a compiled tree | text-running | run import 3
import ast
tree = ast.parse("".join(reversed("so tropmi")))
compile(tree, "x", "exec")
#: a name computed in a text with other globals | text-running | run import 2
text = "__import__(''.join(reversed('so')))"
exec(text, {})
#: a text for timeit | no-network | run import 2
import timeit
timeit.timeit("import socket", number=1)
#: a text for timeit that computes the name | no-network | run import 2
import timeit
timeit.timeit("__import__(''.join(reversed('tekcos')))", number=1)
#: a text for the console's interpreter | no-network | run import 2
import code
code.InteractiveInterpreter().runsource("import socket")
#: a text for cProfile | no-network | run import 2
import cProfile
cProfile.run("import socket")
#: an import by a function from types | no-network | run import 4
import types
def load(name):
    import math
    return __import__(name)
types.FunctionType(load.__code__, {"__builtins__": __builtins__})("".join(reversed("tekcos")))
#: a module beside the script | no-network | run import 2
# written by the test: a module that imports socket
import neighbour
#: an allowed part of a blocked module | os-path | allowed
import os.path
print(os.path.join("a", "b"))
#: from a blocked module, its allowed part | os-path | static import 1
from os import system
#: the rest of a module of which a part is allowed | os-path | static import 2
import os.path
os.system("true")
#: a blocked part of an allowed package | no-parts | static import 1
import json.tool
#: the other parts of an allowed package | no-parts | allowed
import json.decoder
#: from the future | strategic | allowed
from __future__ import annotations
x: int = 1
#: every allowed module of the standard library | strategic | allowed
import json, datetime, math, statistics, collections
from collections.abc import Mapping
from collections import abc
print(abc.Mapping is Mapping, json.decoder.JSONDecoder)
#: a package imports what it needs | stand-in | allowed
import frames
print(frames.read)
#: a module that does not exist | no-network | raises ModuleNotFoundError
import no_such_module
#: everything without rules | open | allowed
import os, sys, subprocess, socket
print(os.getpid() > 0, open(os.devnull).read(), eval("1 + 1"), ().__class__.__base__.__subclasses__() != [])
