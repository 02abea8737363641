#: a comment with open( | strategic | allowed
# open("x"), exec("y"), import os
x = 1  # subprocess.run, __import__("os")
#: a text with open( | strategic | allowed
print("Use open( and exec( with care; import os; __import__")
#: a docstring with import os | strategic | allowed
"""
import os
open("x").read()
().__class__.__base__.__subclasses__()
"""
#: a function's docstring | strategic | allowed
def f():
    """
    >>> import os
    >>> eval("1")
    """
print(f.__doc__ is not None)
#: a name that begins like a module | strategic | allowed
os_name, osmosis, system, sysadmin = "linux", 1, 2, 3
print(os_name, osmosis)
#: words that contain blocked names | strategic | allowed
closed_at, reopen, evaluation, executive, globalsales = 1, 2, 3, 4, 5
def reopen(): return "re"
def evaluate(x): return x
def execute(x): return x
print(reopen(), evaluate(1), execute(2))
#: import as a word | strategic | allowed
text = "import oscillators from osaka"
imports = text.split("import ")
print(imports)
#: a variable named os | strategic | allowed
os = "operating system"
print(os.upper())
#: attributes named like modules on the script's own objects | strategic | allowed
class Machine:
    os = "linux"
    sys = 1
    def socket(self): return "wall"
print(Machine.os, Machine.sys, Machine().socket())
#: a dictionary with keys named like modules | strategic | allowed
config = {"os": 1, "sys": {"path": []}}
print(config["os"], config["sys"]["path"])
#: a raw text with code | strategic | allowed
print(r"exec(open('x').read())" "\n" 'eval("2")')
#: a multi-line text with code | strategic | allowed
code = """
import subprocess
subprocess.run("ls")
"""
print(len(code))
#: an f-string with words | strategic | allowed
name = "x"
print(f"open({name!r}) and import os, {name:>5}")
#: a text as an annotation | strategic | allowed
def f(x: "open('x')") -> "import os":
    return x
print(f(1))
#: a type named file | strategic | allowed
for file in ["a", "b"]:
    print(file)
#: format with braces that name no attribute | strategic | allowed
print("{}.__class__ {{0.__globals__}}".format(1))
#: a query that is not one of pandas | strategic | allowed
class Database:
    def query(self, text): return text
print(Database().query("select __class__ from os"))
#: a syntax error is for the run to tell | strategic | raises SyntaxError
import os (
#: a text that is no code for exec is for the run to tell | text-running | raises SyntaxError
exec("import (")
#: literal_eval | no-network | allowed
import ast
print(ast.literal_eval("[1, {'a': 2}]"))
#: ast.parse only reads | no-network | allowed
import ast
print(len(ast.parse("import socket\nsocket.socket()").body))
#: a calculation with eval where it is allowed | text-running | allowed
print(eval("sum(x * x for x in range(3))"))
#: code in a text that keeps to the rules | text-running | allowed
names = {}
exec("import math\ndef area(r):\n    return math.pi * r ** 2", names)
print(names["area"](1) > 3)
#: a compiled text that keeps to the rules | text-running | allowed
print(eval(compile("1 + 1", "sum", "eval")))
#: timeit of a text that keeps to the rules | no-network | allowed
import timeit
print(timeit.timeit("math.sqrt(2)", setup="import math", number=1) >= 0)
#: a name error is the script's | strategic | raises NameError
print(undefined)
#: an exception of its own is the script's | strategic | raises ValueError
raise ValueError("import os")
#: the end by exit | strategic | raises SystemExit
raise SystemExit(3)
#: regular expressions about code | no-network | allowed
import re
print(re.findall(r"import (\w+)", "import socket"))
#: a long program with everyday things | strategic | allowed
from collections import Counter, defaultdict, OrderedDict, deque
from datetime import datetime, timedelta, date
import json, math, statistics
teams = [{"name": "a", "size": 3, "start": "2024-01-02"}, {"name": "b", "size": 5, "start": "2024-03-04"}]
by_size = defaultdict(list)
for team in teams:
    by_size[team["size"]].append(team)
    team["start"] = datetime.strptime(team["start"], "%Y-%m-%d").date()
total = sum(t["size"] for t in teams)
print(json.dumps(teams, default=str, indent=2), total, statistics.pstdev([t["size"] for t in teams]))
print(max(teams, key=lambda t: t["size"])["name"], Counter("hello").most_common(1), math.isclose(0.1 + 0.2, 0.3))
print(f"{total:,.2f}", date.today() + timedelta(days=1) > date.today(), deque([1, 2], maxlen=1))
#: iterators, generators, contexts | strategic | allowed
def numbers():
    yield from (x for x in range(3))
class Context:
    def __enter__(self): return self
    def __exit__(self, *error): return False
with Context() as context:
    print(list(numbers()), [*numbers()], {**{"a": 1}}, (n := 3) + n)
#: input of the run's context | strategic | allowed
strategic_context = {"quarter": "Q1"}
available_data = ["sales.csv"]
print(strategic_context.get("quarter"), *available_data)
