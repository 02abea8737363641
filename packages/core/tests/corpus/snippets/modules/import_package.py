import os
os.makedirs("pkg/sub")
open("pkg/__init__.py", "w").write("from .a import value\n__all__ = ['value']\n")
open("pkg/a.py", "w").write("from . import sub\nvalue = sub.__name__\n")
open("pkg/sub/__init__.py", "w").write("")
import pkg, pkg.sub
from pkg import *
print(pkg.value, value, pkg.__path__[0].endswith("/pkg"), pkg.__package__)
from pkg import missing
