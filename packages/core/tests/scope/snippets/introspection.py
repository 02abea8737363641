#: the subclasses of object | strategic | static introspection 1
().__class__.__base__.__subclasses__()
#: through the order of classes | strategic | static introspection 1
"".__class__.__mro__[-1].__subclasses__()
#: the method mro | strategic | static introspection 1
type("").mro()[-1]
#: bases | strategic | static introspection 1
[].__class__.__bases__[0]
#: type's own __subclasses__ | strategic | static introspection 1
type.__subclasses__(type)
#: a function's globals | strategic | static introspection 2
def f(): pass
f.__globals__["__builtins__"]
#: a method's globals | strategic | static introspection 3
class A:
    def f(self): pass
A().f.__func__.__globals__
#: globals of a class's constructor | strategic | static introspection 2
class A: __init__ = lambda self: None
A.__init__.__globals__
#: globals of a package's function | strategic | static introspection 2
import statistics
statistics.mean.__globals__["sys"]
#: the module behind a builtin function | strategic | static introspection 1
print.__self__.open("x")
#: the code of a function | strategic | static introspection 2
def f(): pass
f.__code__ = (lambda: 1).__code__
#: the closure of a function | strategic | static introspection 2
def f(x): return lambda: x
f(1).__closure__[0].cell_contents
#: a generator's frame | strategic | static introspection 2
g = (x for x in [1])
g.gi_frame.f_back.f_globals
#: a generator's code | strategic | static introspection 1
(x for x in [1]).gi_code
#: a coroutine's frame | strategic | static introspection 2
async def f(): pass
f().cr_frame
#: an asynchronous generator's frame | strategic | static introspection 3
async def f():
    yield 1
f().ag_frame
#: an exception's frame | strategic | static introspection 4
try:
    1 / 0
except ZeroDivisionError as error:
    error.__traceback__.tb_frame.f_globals
#: the frame of the caller from __exit__ | strategic | static introspection 4
class A:
    def __enter__(self): pass
    def __exit__(self, kind, error, trace):
        print(trace.tb_frame.f_back)
with A(): 1 / 0
#: __getattribute__ | strategic | static introspection 1
print.__getattribute__("__self__")
#: __getattribute__ of object with a constant | strategic | static introspection 1
object.__getattribute__(print, "__self__")
#: __reduce_ex__ | strategic | static introspection 1
print.__reduce_ex__(2)
#: __reduce__ of a bound method gives getattr | strategic | static introspection 1
[].append.__reduce__()
#: the module's loader | strategic | static introspection 1
__loader__.load_module("os")
#: a package's loader | strategic | static introspection 2
import json
json.__loader__.get_data("x")
#: a package's specification | strategic | static introspection 2
import json
json.__spec__.loader
#: builtins of a module | strategic | static introspection 2
import json
json.__builtins__["open"]
#: builtins imported from a module | strategic | static introspection 1
from json import __builtins__ as b
#: getattr with a constant | strategic | static introspection 1
getattr((), "__class__"); getattr(str, "__subclasses__")
#: getattr with a name in pieces | strategic | static introspection 1
getattr(str, "__sub" + "classes__")
#: getattr with a name by format | strategic | static introspection 1
getattr(str, "__{}__".format("subclasses"))
#: getattr with a name by percent | strategic | static introspection 1
getattr(str, "__%s__" % "subclasses")
#: getattr with a name in an f-string | strategic | static introspection 2
part = "subclasses"
getattr(str, f"__{part}__")
#: getattr with a name turned round | strategic | static introspection 1
getattr(str, "__sessalcbus__"[::-1])
#: getattr with a name of another case | strategic | static introspection 1
getattr(str, "__SUBCLASSES__".lower())
#: getattr with a computed name | strategic | run introspection 2
for name in ["__subclasses__"]:
    getattr(str, name)
#: getattr with a name from documentation | strategic | run introspection 3
letters = {c: c for c in str.__doc__ + "_"}
name = "__" + "".join(letters[c] for c in "base") + "__"
getattr(str, name)
#: getattr under another name | strategic | run introspection 3
g = getattr
for name in ["__globals__"]:
    g(print, name, None)
#: getattr through map | strategic | run introspection 1
list(map(getattr, [str], ["".join(reversed("__esab__"))]))
#: a generator's frame by a computed name | strategic | run introspection 2
g = (x for x in [1])
next(iter([getattr]))(g, "gi_" + "".join(reversed("emarf")))
#: a class pattern | strategic | static introspection 2
match "":
    case str(__class__=x, __base__=y): pass
    case object(__subclasses__=z): print(z)
#: in a lambda in a default | strategic | static introspection 1
f = lambda x=().__class__.__base__: x
#: in a decorator | strategic | static introspection 1
@(lambda f: f.__globals__)
def f(): pass
#: in an f-string | strategic | static introspection 1
print(f"{().__class__.__base__.__subclasses__()}")
#: in a format text | strategic | static introspection 1
print("{0.__class__.__base__}".format(""))
#: in a format text for format_map | strategic | static introspection 1
print("{x.__globals__}".format_map({"x": print}))
#: in a format text in a variable | strategic | static introspection 2
text = "{0.__globals__}"
print(text.format(print))
#: in a format text as a nested specification | strategic | static introspection 1
print("{0:{1.__self__}}".format(1, print))
#: in a format text for str.format | strategic | static introspection 1
print(str.format("{0.__self__}", print))
#: in a format text for string.Formatter | no-builtins | static introspection 2
import string
string.Formatter().format("{0.__globals__}", string.capwords)
#: a frame in a computed format text | strategic | run introspection 3
g = (x for x in [1])
text = "".join(reversed("}emarf_ig.0{"))
text.format(g)
#: attrgetter with a constant | no-builtins | static introspection 2
import operator
operator.attrgetter("__class__.__base__")(str)
#: attrgetter of a frame by a computed name | no-builtins | run introspection 3
import operator
g = (x for x in [1])
operator.attrgetter("gi_" + "".join(reversed("emarf")))(g)
#: sys._getframe | no-builtins | static introspection 2
import sys
sys._getframe(0)
#: sys._getframe by a computed name | no-builtins | run introspection 3
import sys
for name in dir(sys):
    if name.startswith("_getframe"): getattr(sys, name)()
#: inspect looks for the script | no-builtins | static introspection 2
import inspect
inspect.currentframe().f_back
#: the garbage collector | no-builtins | run introspection 2
import gc
gc.get_objects()
#: made of bytes | no-builtins | run introspection 2
import marshal
marshal.loads(b"N")
#: who refers to it | no-builtins | run introspection 2
import gc
gc.get_referrers(1)
#: warnings' linecache | strategic | static introspection 1
[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "catch_warnings"][0]()._module.linecache.os
#: a class of its own on the way | strategic | static introspection 3
class A:
    pass
A.__subclasses__()
#: the attribute is deleted | strategic | static introspection 2
def f(): pass
del f.__code__
#: the name of a class | strategic | allowed
print("x".__class__.__name__, type(1).__name__, Exception.__doc__ is None)
#: special methods of a class | strategic | allowed
class A:
    __slots__ = ("x",)
    def __init__(self): self.x = 1
    def __eq__(self, other): return self.x == other.x
    def __hash__(self): return 1
    def __getattribute__(self, name): return super().__getattribute__(name)
    def __repr__(self): return f"{self.__class__.__name__}({self.x})"
print(A() == A(), A())
#: object.__getattribute__ with a name that comes in | strategic | allowed
class A:
    x = 1
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)
print(A().x)
#: an object's dictionary | strategic | allowed
class A:
    def __init__(self, **given): self.__dict__.update(given)
print(A(x=1).x, vars(A(x=1)))
#: getattr with a name that comes in | strategic | allowed
import statistics
for name in ["mean", "median"]:
    print(name, getattr(statistics, name)([1, 2, 3]))
#: getattr with a default | strategic | allowed
print(getattr(1, "missing", None), hasattr(1, "real"), getattr(1, "real"))
#: formats with fields | strategic | allowed
print("{0.real} {0.imag:.2f} {1[0]} {name}".format(1.0, [1], name="__globals__"))
#: an exception's traceback is printed | open-traceback | allowed
import traceback
try:
    1 / 0
except ZeroDivisionError:
    traceback.print_exc()
#: an exception's notes and cause | strategic | allowed
try:
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError("x") from error
except ValueError as error:
    print(error.__cause__, error.__traceback__ is not None)
#: a decorator with wraps' attributes | strategic | allowed
def logged(f):
    def inner(*a): return f(*a)
    inner.__name__, inner.__doc__ = f.__name__, f.__doc__
    return inner
@logged
def add(a, b): return a + b
print(add(1, 2), add.__name__)
#: a data class and a named tuple | no-builtins | allowed
import dataclasses, typing, enum
from collections import namedtuple
@dataclasses.dataclass(order=True)
class P:
    x: int
    y: typing.List[int] = dataclasses.field(default_factory=list)
class C(enum.Enum):
    A = 1
print(P(1), namedtuple("Q", "a b")(1, 2), C.A, P(1) < P(2))
