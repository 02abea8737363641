#: open | strategic | static builtin 1
open("x")
#: open as a value | strategic | static builtin 1
f = open
#: open as an argument | strategic | static builtin 1
list(map(open, ["x"]))
#: open in a list | strategic | static builtin 1
[open][0]("x")
#: open in an assignment expression | strategic | static builtin 1
(f := open)("x")
#: open as a default of a lambda | strategic | static builtin 1
f = lambda path, opener=open: opener(path)
#: open as a default of a function | strategic | static builtin 1
def f(path, opener=open):
    return opener(path)
#: open as a decorator | strategic | static builtin 1
@open
def path(): pass
#: exec as a decorator of a class | strategic | static builtin 1
@exec
@str
class X: pass
#: open in an f-string | strategic | static builtin 1
print(f"{open('x').read()}")
#: open in an f-string in an f-string | strategic | static builtin 1
print(f"{f'{open}'}")
#: open in the format of an f-string | strategic | static builtin 1
print(f"{1:{open}}")
#: open after a star | strategic | static builtin 1
print(*open("x"))
#: open after two stars | strategic | static builtin 1
dict(**{"a": open})
#: open in a comprehension | strategic | static builtin 1
[open(name) for name in ["x"]]
#: open in a condition of a comprehension | strategic | static builtin 1
[1 for name in ["x"] if open(name)]
#: open in a class body | strategic | static builtin 2
class A:
    f = open
#: open in a base class's keywords | strategic | static builtin 1
class A(object, key=open): pass
#: eval by a metaclass | strategic | static builtin 2
class M(type):
    __getitem__ = eval
#: open as an annotation | strategic | static builtin 1
def f(x: open("x")): pass
#: with open | strategic | static builtin 1
with open("x") as file: pass
#: eval | strategic | static builtin 1
eval("1 + 1")
#: exec | strategic | static builtin 1
exec("x = 1")
#: compile | strategic | static builtin 1
compile("1", "x", "eval")
#: globals | strategic | static builtin 1
globals()["__builtins__"]
#: locals | strategic | static builtin 2
def f():
    return locals()
#: input | strategic | static builtin 1
input()
#: breakpoint | strategic | static builtin 1
breakpoint()
#: __import__ | strategic | static builtin 1
__import__("math")
#: mathematical letters | strategic | static builtin 1
𝘰𝘱𝘦𝘯("x")
#: mathematical letters for eval | strategic | static builtin 1
ℯval("1")
#: builtins as a module | strategic | static import 1
import builtins
#: open of builtins | no-builtins | static builtin 2
import builtins
builtins.open("x")
#: open from builtins | no-builtins | static builtin 1
from builtins import open as read
#: star of builtins | no-builtins | static builtin 1
from builtins import *
#: getattr of builtins | no-builtins | static builtin 2
import builtins
getattr(builtins, "open")
#: getattr of builtins with a name in pieces | no-builtins | static builtin 2
import builtins as b
getattr(b, "".join(["o", "pen"]))
#: getattr of builtins with a computed name | no-builtins | run builtin 3
import builtins
for name in ["open"]:
    getattr(builtins, name)("x")
#: the dictionary of builtins | no-builtins | run builtin 3
import builtins
for name, value in builtins.__dict__.copy().items():
    if name.startswith("ope"): value("x")
#: __builtins__ as a dictionary | strategic | static builtin 1
__builtins__["open"]
#: __builtins__ as a module | strategic | static builtin 1
__builtins__.open
#: getattr of __builtins__ | strategic | static builtin 1
getattr(__builtins__, "open")
#: __builtins__ with a name in pieces | strategic | static builtin 1
__builtins__["op" + "en"]
#: __builtins__ in any way | strategic | static introspection 1
for name in __builtins__: pass
#: __builtins__ assigned | strategic | static introspection 1
__builtins__ = {}
#: __builtins__ imported over | strategic | static introspection 1
import math as __builtins__
#: the script's own name before it is bound | strategic | static builtin 1
f = open
open = 1
#: the script's own name, bound only sometimes | strategic | static builtin 3
if len("a") > 1:
    open = 1
f = open
#: the script's own name, deleted | strategic | static builtin 3
open = 1
del open
f = open
#: a function that runs before its name is bound | strategic | run builtin 2
def f():
    return open("x")
f()
open = 1
#: a name of a class body is not seen by its methods | strategic | static builtin 4
class A:
    open = 1
    def f(self):
        return open
#: the first sequence of a comprehension belongs outside | strategic | static builtin 1
[open for open in open("x")]
#: the value of an assignment to the same name | strategic | static builtin 1
open = open
#: global takes the name back | strategic | static builtin 3
def f():
    global open
    return open
#: a blocked builtin in a text | eval-only | static builtin 1
eval("open('x')")
#: a blocked builtin in a computed text | eval-only | run builtin 1
eval("".join(reversed(")'x'(nepo")))
#: a blocked builtin in a lambda of a text | eval-only | run builtin 2
text = "".join(reversed(")'x'(nepo :adbmal"))
eval(text)()
#: caught, and still refused | eval-only | run builtin 2
try:
    eval("".join(reversed(")'x'(nepo")))
except BaseException:
    pass
print("goes on")
#: a function named open | strategic | allowed
def open(x):
    return x
print(open(1))
#: a class named compile | strategic | allowed
class compile: pass
print(compile())
#: a variable named eval | strategic | allowed
eval = 3
print(eval + 1)
#: a parameter named input | strategic | allowed
def f(input, *, locals=1):
    return input, locals
print(f(1))
#: a local named open | strategic | allowed
def f():
    open = 3
    return [open for _ in "ab"]
print(f())
#: a lambda's parameter named eval | strategic | allowed
print((lambda eval: eval + 1)(2))
#: a comprehension's variable named open | strategic | allowed
print([open for open in range(3)])
#: a loop's variable named input in a function | strategic | allowed
def f():
    for input in range(3):
        print(input)
f()
#: a nested function sees the outer one's variable | strategic | allowed
def f():
    open = 1
    def g():
        return open
    return g()
print(f())
#: an imported function named compile | strategic | allowed
from math import floor as compile
print(compile(1.5))
#: several at once | strategic | allowed
open, high, low, close = 1.0, 2.0, 0.5, 1.5
print((close - open) / open)
#: a function defined further down | strategic | allowed
def main():
    return open(2)
def open(x):
    return x * 2
print(main())
#: a method named open | strategic | allowed
class Shop:
    def open(self): return "open"
    def eval(self, x): return x
print(Shop().open(), Shop().eval(1))
#: a keyword named open | strategic | allowed
print(dict(open=1, eval=2, exec=3)["open"])
#: keys named open | strategic | allowed
prices = {"open": 1, "compile": 2}
print(prices["open"])
#: a case that captures input | strategic | allowed
def f(command):
    match command:
        case ["go", input]:
            return input
print(f(["go", 1]))
