import sys
import types
import unittest

import python_half  # noqa: F401
from pungi.calls import call, convert

SCRIPT = '''
import collections, dataclasses, datetime, decimal, enum, fractions, functools, ipaddress, pathlib, re, typing, uuid
from typing import Annotated, Any, List, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2

@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0
    label: "Optional[str]" = None

@dataclasses.dataclass
class Positive:
    number: int
    scale: dataclasses.InitVar[int] = 1
    def __post_init__(self, scale):
        if self.number <= 0:
            raise ValueError("must be positive")
        self.number *= scale

@dataclasses.dataclass
class Node:
    name: str
    children: "list[Node]" = dataclasses.field(default_factory=list)

class Options(TypedDict, total=False):
    depth: int
    since: datetime.date

class Pair(NamedTuple):
    point: Point
    count: int = 3

Meters = NewType("Meters", float)
Item = TypeVar("Item", bound=int)
Plain = collections.namedtuple("Plain", "a b")
class Name(str):
    pass
class Speaking(typing.Protocol):
    def speak(self): ...
'''


class Hints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = sys.modules["conversions"] = types.ModuleType("conversions")
        exec(SCRIPT, cls.module.__dict__)

    @classmethod
    def tearDownClass(cls):
        del sys.modules["conversions"]

    def convert(self, hint, value):
        """The value that a function with this type hint gets, or the sentences of why not."""
        exec(f"def function(a: {hint}): return a", self.module.__dict__)
        function = self.module.function
        positional, named, issues = convert.convert_arguments(function, {"a": value}, self.module.__dict__)
        return issues or function(*positional, **named)

    def expect(self, hint, value, wanted):
        wanted = eval(wanted, self.module.__dict__) if type(wanted) is str else wanted
        for written in (hint, repr(hint)):  # the hint itself, and as a text
            found = self.convert(written, value)
            self.assertEqual((type(found), found), (type(wanted), wanted), written)

    def refuse(self, hint, value, sentence):
        self.assertEqual(self.convert(hint, value), [sentence])

    def test_plain_types(self):
        self.expect("int", "10", 10)
        self.expect("float", 3, 3.0)
        self.expect("float", "inf", float("inf"))
        self.expect("bool", "yes", True)
        self.expect("str", "10", "'10'")
        self.expect("complex", "1 + 2j", 1 + 2j)
        self.expect("list", "[1]", [1])
        self.expect("dict", '{"a": 1}', {"a": 1})
        self.expect("tuple", [1, 2], (1, 2))
        self.expect("set", [1, 1], {1})
        self.expect("None", None, None)
        self.expect("Any", "10", "'10'")
        self.refuse("int", True, "a: expected a whole number, got true")
        self.refuse("str", 5, "a: expected a text, got 5")
        self.refuse("set", [[1]], "a: expected a list of what a set can hold, got a list of 1")

    def test_bytes_by_base64_or_as_text(self):
        self.expect("bytes", "aGVsbG8=", b"hello")
        self.expect("bytes", "data:text/plain;base64,aGVsbG8h", b"hello!")
        self.expect("bytes", "iVBORw0KGgoAAAANSUhEUgAA", "__import__('base64').b64decode('iVBORw0KGgoAAAANSUhEUgAA')")
        for text in ("test", "hello world", "żółw", "password", "deadbeefdeadbeef", "data:text/plain,x"):
            self.expect("bytes", text, text.encode())
        self.expect("bytearray", "test", bytearray(b"test"))

    def test_dates_and_times(self):
        self.expect("datetime.datetime", "2024-01-02T03:04:05Z",
                    "datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)")
        self.expect("datetime.datetime", "2024-01-02 03:04:05.25", "datetime.datetime(2024, 1, 2, 3, 4, 5, 250000)")
        self.expect("datetime.datetime", "2024-01-02", "datetime.datetime(2024, 1, 2)")
        self.expect("datetime.datetime", "2024-01-02T03:04+05:30",
                    "datetime.datetime(2024, 1, 2, 3, 4, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30)))")
        self.expect("datetime.datetime", 0, "datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)")
        self.expect("datetime.date", "2024-02-29", "datetime.date(2024, 2, 29)")
        self.expect("datetime.date", "2024-02-29T00:00:00", "datetime.date(2024, 2, 29)")
        self.expect("datetime.time", "10:30", "datetime.time(10, 30)")
        spans = {"PT1H30M": "hours=1, minutes=30", "P1DT2S": "days=1, seconds=2", "-P2W": "weeks=-2", "90": "seconds=90",
                 "26:00:00": "hours=26", "1 day, 2:03:04": "days=1, hours=2, minutes=3, seconds=4"}
        for text, span in spans.items():
            self.expect("datetime.timedelta", text, f"datetime.timedelta({span})")
        self.expect("datetime.timedelta", 1.5, "datetime.timedelta(seconds=1.5)")
        self.refuse("datetime.date", "2024-02-29T10:00:00",
                    'a: expected a date such as 2025-01-31, got the text "2024-02-29T10:00:00"')
        self.refuse("datetime.datetime", 1e300, "a: expected a date and time such as 2025-01-31T09:30:00, got 1e+300")
        self.refuse("datetime.timedelta", "P", 'a: expected a duration such as PT1H30M, or seconds, got the text "P"')

    def test_what_is_written_as_a_text(self):
        self.expect("pathlib.Path", "a/b", "pathlib.Path('a/b')")
        self.expect("uuid.UUID", "12345678123456781234567812345678", "uuid.UUID('12345678123456781234567812345678')")
        self.expect("decimal.Decimal", 0.1, "decimal.Decimal('0.1')")
        self.expect("decimal.Decimal", "1.10", "decimal.Decimal('1.10')")
        self.expect("fractions.Fraction", "3/4", "fractions.Fraction(3, 4)")
        self.expect("ipaddress.IPv4Address", "127.0.0.1", "ipaddress.IPv4Address('127.0.0.1')")
        self.expect("re.Pattern", "a+", "re.compile('a+')")
        self.expect("Name", "x", "Name('x')")
        self.refuse("decimal.Decimal", "x", 'a: expected a decimal number, got the text "x"')
        self.refuse("decimal.Decimal", True, "a: expected a decimal number, got true")
        self.refuse("uuid.UUID", 5, "a: expected a text for UUID, got 5")

    def test_enumerations_by_value_or_name(self):
        self.expect("Color", "blue", "Color.BLUE")
        self.expect("Color", "RED", "Color.RED")
        self.expect("Level", 2, "Level.HIGH")
        self.expect("Level", "1", "Level.LOW")
        self.expect("list[Color]", '["red"]', "[Color.RED]")
        self.refuse("Color", "green", "a: expected one of 'red', 'blue', got the text \"green\"")

    def test_types_with_fields(self):
        self.expect("Point", {"x": "1"}, "Point(1.0)")
        self.expect("Point", '{"x": 1, "label": "a"}', "Point(1.0, 0.0, 'a')")
        self.expect("Node", {"name": "a", "children": [{"name": "b"}]}, "Node('a', [Node('b')])")
        self.expect("Options", {"depth": "2", "since": "2024-01-01"}, "{'depth': 2, 'since': datetime.date(2024, 1, 1)}")
        self.expect("Pair", {"point": {"x": 1}}, "Pair(Point(1.0))")
        self.expect("Pair", [{"x": 1}, "4"], "Pair(Point(1.0), 4)")
        self.expect("Plain", [1, 2], "Plain(1, 2)")
        self.expect("Positive", {"number": 2, "scale": "3"}, "Positive(6)")
        self.refuse("Point", {"x": 1, "z": 2}, "a.z: is not known; there are x, y, label")
        self.refuse("Point", {"y": 1}, "a.x: is missing")
        self.refuse("Point", [1], "a: expected an object for Point, got a list of 1")
        self.refuse("Positive", {"number": -1}, "a: cannot be made a Positive: ValueError: must be positive")
        self.refuse("Node", {"name": "a", "children": [{}]}, "a.children.0.name: is missing")
        self.refuse("Pair", [1, 2, 3], "a: expected a list of 2, got a list of 3")

    def test_collections(self):
        self.expect("list[int]", ["1", 2], [1, 2])
        self.expect("List[datetime.date]", ["2024-01-01"], "[datetime.date(2024, 1, 1)]")
        self.expect("set[int]", ["1", 1], {1})
        self.expect("frozenset[str]", ["a"], frozenset("a"))
        self.expect("tuple[int, str]", ["1", "b"], (1, "b"))
        self.expect("tuple[int, ...]", ["1", "2"], (1, 2))
        self.expect("tuple[()]", [], ())
        self.expect("typing.Tuple", [1, 2], (1, 2))
        self.expect("typing.Dict", {"a": 1}, {"a": 1})
        self.expect("dict[int, Point]", {"1": {"x": 2}}, "{1: Point(2.0)}")
        self.expect("typing.Sequence[int]", ["1"], [1])
        self.expect("typing.Iterable[int]", ["1"], [1])
        self.expect("typing.Mapping[str, int]", {"a": "1"}, {"a": 1})
        self.expect("collections.deque[int]", ["1"], "collections.deque([1])")
        self.expect("collections.OrderedDict[str, int]", {"a": "1"}, "collections.OrderedDict(a=1)")
        self.expect("typing.DefaultDict[str, int]", {"a": "1"}, "collections.defaultdict(None, a=1)")
        self.expect("typing.Counter[str]", {"a": "1"}, "collections.Counter(a=1)")
        self.refuse("tuple[int, str]", [1], "a: expected a list of 2, got a list of 1")
        self.refuse("list[int]", [1, "x"], 'a.1: expected a whole number, got the text "x"')
        self.refuse("dict[int, int]", {"x": 1}, 'a.x: expected a whole number, got the text "x"')
        self.refuse("set[list[int]]", [[1]], "a: cannot be made a set: unhashable type: 'list'")

    def test_unions_and_what_stands_for_other_types(self):
        self.expect("Optional[int]", None, None)
        self.expect("Optional[int]", "3", 3)
        self.expect("int | None", "3", 3)

    def test_a_default_of_none_says_that_none_will_do(self):
        scope = {}
        exec("def f(n: int = None, m: int = 3): return n, m", scope)
        self.assertEqual(convert.convert_arguments(scope["f"], {"n": None}, scope), ([], {"n": None}, []))
        self.assertEqual(convert.convert_arguments(scope["f"], {"n": "4"}, scope), ([], {"n": 4}, []))
        *_, (issue,) = convert.convert_arguments(scope["f"], {"m": None}, scope)
        self.assertIn("m: expected", issue)
        self.expect("Union[int, str]", "10", "'10'")
        self.expect("Union[float, int]", 3, 3)
        self.expect("Union[datetime.date, int]", "2024-01-01", "datetime.date(2024, 1, 1)")
        self.expect("Union[Point, Options]", {"depth": "1"}, {"depth": 1})
        self.expect("Union[list[Point], Point]", [{"x": 1}], "[Point(1.0)]")
        self.expect("Literal['a', 1]", "1", 1)
        self.expect("Annotated[int, 'how many']", "3", 3)
        self.expect("Meters", 3, 3.0)
        self.expect("Item", "3", 3)
        self.refuse("Optional[int]", "x", 'a: expected a whole number, got the text "x"')
        self.refuse("Union[int, Color]", "x", "a: expected a whole number or Color, got the text \"x\"")
        self.refuse("Literal['a', 'b']", "c", "a: expected one of 'a', 'b', got the text \"c\"")

    def test_hints_that_are_no_types_leave_the_value(self):
        for hint in ("5", "'not there'", "'a b c'", "[]", "print", "lambda: 0", "NotThere", "typing.Callable[[], int]",
                     "type[int]", "object()", "Speaking"):
            with self.subTest(hint):
                self.assertEqual(self.convert(repr(hint) if hint == "NotThere" else hint, "x"), "x")

    def test_deep_values(self):
        deep = {"name": "a"}
        for _ in range(900):
            deep = {"name": "a", "children": [deep]}
        before = sys.getrecursionlimit()
        self.addCleanup(sys.setrecursionlimit, before)
        sys.setrecursionlimit(1000)  # whatever a library that was imported before has made of it
        # From a few depths, so that the limit is met in every step of converting a level.
        for frames in range(40):
            self.assertEqual(_below(frames, lambda: self.convert("Node", deep)), ["a: is nested too deeply"], frames)

    @unittest.skipIf(sys.version_info < (3, 12), "came with Python 3.12")
    def test_type_statements(self):
        exec("type Numbers = list[int]\ntype Tree = dict[str, Tree] | int", self.module.__dict__)
        self.expect("Numbers", ["1"], [1])
        self.expect("Tree", {"a": {"b": "2"}}, {"a": {"b": 2}})

    @unittest.skipIf(sys.version_info < (3, 11), "came with Python 3.11")
    def test_required_keys(self):
        exec("class Strict(TypedDict, total=False):\n a: typing.Required[int]\n b: int", self.module.__dict__)
        self.expect("Strict", {"a": "1"}, {"a": 1})
        self.refuse("Strict", {"b": 1}, "a.a: is missing")


def _below(frames, function):
    return _below(frames - 1, function) if frames else function()


class Signatures(unittest.TestCase):
    def call(self, source, arguments):
        variables = {}
        exec(source, variables)
        function, positional, named, issues = call.prepare_call(variables, "function", arguments)
        return issues or call.perform_call(function, positional, named)

    def test_every_kind_of_parameter(self):
        source = "def function(a, /, b: int, c=3, *, d: int, e=5, **rest: int): return a, b, c, d, e, rest"
        self.assertEqual(self.call(source, {"a": 1, "b": "2", "d": "4", "f": "6"}), (1, 2, 3, 4, 5, {"f": 6}))
        source = "def function(a=1, b=2, /, c=3): return a, b, c"
        self.assertEqual(self.call(source, {"b": 9}), (1, 9, 3))
        self.assertEqual(self.call("def function(*all): return all", {}), ())

    @unittest.skipIf(sys.version_info < (3, 11), "Unpack came with Python 3.11")
    def test_the_fields_of_an_unpacked_class(self):
        source = (
            "from typing import TypedDict, Unpack\n"
            "class Options(TypedDict, total=False):\n    count: int\n    x: int\n"
            "def function(x: str, **options: {}): return x, options\n"
        )
        for hint in ("Unpack[Options]", "'Unpack[Options]'", "Unpack['Options']"):
            with self.subTest(hint):
                self.assertEqual(self.call(source.format(hint), {"x": "1", "count": "2"}), ("1", {"count": 2}))
                issues = self.call(source.format(hint), {"x": "1", "count": "many"})
                self.assertEqual(issues, ['count: expected a whole number, got the text "many"'])
        self.assertEqual(self.call(source.format("Unpack[1]"), {"x": "1", "count": "2"}), ("1", {"count": "2"}))

    def test_names_that_are_missing_or_not_known(self):
        source = "def function(first, second=2): pass"
        self.assertEqual(self.call(source, {"secnod": 1}), ['secnod: is not known; do you mean "second"?', "first: is missing"])
        self.assertEqual(self.call("def function(*all): pass", {"all": 1}), ["all: is not known; there are none"])

    def test_decorated_functions_and_other_things_that_can_be_called(self):
        decorated = """
import functools
def plain(function):
    @functools.wraps(function)
    def inner(*a, **k): return function(*a, **k)
    return inner
@plain
@functools.lru_cache
def function(a: "int", b: int = 2): return a + b
"""
        self.assertEqual(self.call(decorated, {"a": "1"}), 3)
        self.assertEqual(self.call(decorated, {"c": "1"}), ["c: is not known; there are a, b", "a: is missing"])
        partial = "import functools\ndef f(a: int, b: int): return a - b\nfunction = functools.partial(f, b=1)"
        self.assertEqual(self.call(partial, {"a": "3"}), 2)
        instance = "class C:\n def __call__(self, a: int): return a\nfunction = C()"
        self.assertEqual(self.call(instance, {"a": "3"}), 3)
        method = "class C:\n @classmethod\n def m(cls, a: int): return a\nfunction = C.m"
        self.assertEqual(self.call(method, {"a": "3"}), 3)
        self.assertEqual(self.call("function = len", {"obj": [1]}), 1)

    def test_no_function(self):
        absent = "function: is no function of the script"
        self.assertEqual(self.call("def total(): pass\n_hidden = lambda: 0", {}), [f"{absent}; there is total"])
        self.assertEqual(self.call("def functoin(): pass", {}), [f'{absent}; do you mean "functoin"?'])
        self.assertEqual(self.call("function = 5", {}), ["function: is no function, but a int"])


if __name__ == "__main__":
    unittest.main()
