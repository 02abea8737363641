import sys
import unittest

from discovered import INTEGER, NULL, STRING, find, needs, one_tool, remarks_of


def names_of(source):
    return [tool["name"] for tool in find(source)[0]]


def properties_of(source):
    return one_tool(source)["inputSchema"]["properties"]


class Choice(unittest.TestCase):
    def test_public_functions_of_the_script_itself(self):
        source = '''
from os.path import join
def public(): ...
def _private(): ...
async def waits(): ...
class A:
    def method(self): ...
def outer():
    def inner(): ...
square = lambda x: x
'''
        self.assertEqual(names_of(source), ["public", "waits", "outer"])
        self.assertEqual([tool["isAsync"] for tool in find(source)[0]], [False, True, False])

    def test_exactly_those_of_all(self):
        source = "__all__ = ['_b', 'C']\n__all__ += ['a']\ndef a(): ...\ndef _b(): ...\ndef c(): ...\nclass C: ..."
        self.assertEqual(names_of(source), ["a", "_b"])
        self.assertEqual(names_of("def _make(): return ['a']\n__all__ = _make()\ndef a(): ...\ndef b(): ..."), ["a"])
        self.assertEqual(names_of("__all__ = 3\ndef a(): ..."), ["a"])
        self.assertEqual(remarks_of("def a(): ...\n__all__ = ['gone', 3]"), [
            (2, "gone", "__all__ names it, but the script does not define it.", True),
        ])

    def test_a_thousand_and_no_more(self):
        # All of these are "a" in plain letters.
        source = "\n".join(f"def {chr(0x4E00 + number)}a(): ..." for number in range(3000))
        self.assertEqual(names_of(source), ["a", *(f"a_{number}" for number in range(2, 1001))])
        (line, name, reason, is_skipped), = remarks_of(source)
        self.assertEqual((line, name, is_skipped), (1001, f"{chr(0x4E00 + 1000)}a", True))
        self.assertIn("2000 functions in all", reason)

    def test_a_list_of_names_that_grows_and_grows(self):
        grows = "".join(f"__all__ += ['f{number}']\n" for number in range(3000))
        source = f"__all__ = []\n{grows}def f0(): ...\ndef f2999(): ...\ndef other(): ..."
        self.assertEqual(names_of(source), ["f0", "f2999"])
        self.assertEqual(len(remarks_of(source)), 998 + 1)

    def test_the_last_of_several_definitions_and_no_stubs(self):
        stubs = "from typing import overload\n@overload\ndef a(x: int): ...\n@overload\ndef a(x: str): ..."
        source = f"{stubs}\ndef a(x): ...\ndef b(): ...\ndef b(y: int): ..."
        self.assertEqual({tool["name"]: tool["line"] for tool in find(source)[0]}, {"a": 6, "b": 8})

    def test_what_stands_below_conditions(self):
        source = '''
from typing import TYPE_CHECKING
try:
    import json
    def a(x: int): ...
except ImportError:
    def a(x: str): ...
if False:
    def never(): ...
if TYPE_CHECKING:
    def checked(): ...
if __name__ == "__main__":
    def guarded(): ...
else:
    def imported(): ...
'''
        self.assertEqual(names_of(source), ["a", "imported"])
        self.assertEqual(find(source)[0][0]["inputSchema"]["properties"], {"x": INTEGER})

    @needs("click", "typer")
    def test_commands_are_no_functions(self):
        self.assertEqual(names_of("import click\n@click.command()\n@click.option('--a')\ndef run(a): ...\ndef b(): ..."), ["b"])
        self.assertEqual(names_of("import typer\napp = typer.Typer()\n@app.command()\ndef run(a): ...\ndef b(): ..."), ["b"])
        self.assertEqual(names_of("class bot:\n    command = staticmethod(lambda f: f)\n@bot.command\ndef run(a: int): ..."), ["run"])

    def test_context_managers_are_skipped_and_say_why(self):
        source = "import contextlib\n@contextlib.contextmanager\ndef opened(path: str):\n    yield"
        self.assertEqual(remarks_of(source), [(3, "opened", "It returns a context manager, which ends with the call.", True)])
        self.assertEqual(names_of("from functools import lru_cache\n@lru_cache(maxsize=None)\ndef f(x: int): ..."), ["f"])

    def test_names_that_are_not_ascii(self):
        tools, remarks = find("def größe(): ...\ndef groe(): ...\ndef 数(): ...")
        self.assertEqual([(tool["function"], tool["name"]) for tool in tools], [("größe", "groe"), ("groe", "groe_2")])
        self.assertEqual((remarks[0]["name"], remarks[0]["isSkipped"]), ("数", True))


class Parameters(unittest.TestCase):
    def test_required_is_what_has_no_default(self):
        schema = one_tool("def f(a, b: int, /, c: int, d=1, *, e: str, g: bool = False): ...")["inputSchema"]
        self.assertEqual(list(schema["properties"]), ["a", "b", "c", "d", "e", "g"])
        self.assertEqual((schema["required"], schema["additionalProperties"]), (["a", "b", "c", "e"], False))
        self.assertNotIn("required", one_tool("def f(a=1): ...")["inputSchema"])
        self.assertEqual(one_tool("def f(a, b=2, /, c=3): ...")["inputSchema"]["required"], ["a"])

    def test_star_parameters_are_left_out_with_a_remark(self):
        source = "def f(a: int, *args: int, **kwargs): ...\ndef g(*args, **kwargs): ..."
        self.assertEqual(properties_of(source), {"a": INTEGER})
        self.assertEqual(remarks_of(source), [
            (1, "f(*args)", "No schema can be written for *args: it is left out.", False),
            (1, "f(**kwargs)", "No schema can be written for **kwargs: it is left out.", False),
            (2, "g(*args)", "It takes nothing but *args, for which no schema can be written.", True),
        ])

    @unittest.skipIf(sys.version_info < (3, 11), "Unpack came with Python 3.11")
    def test_the_fields_of_an_unpacked_class_are_parameters(self):
        before = (
            "from typing import TypedDict, Unpack\n"
            "class Options(TypedDict, total=False):\n    unit: str\n    x: str\n"
            "class More(Options):\n    count: int\n"
        )
        schema = one_tool(f"{before}def f(x: int, **options: Unpack[More]): ...")["inputSchema"]
        self.assertEqual(schema["properties"], {"x": INTEGER, "unit": STRING, "count": INTEGER})
        self.assertEqual(schema["required"], ["x", "count"])
        self.assertEqual(list(properties_of(f"{before}def f(**options: Unpack['More']): ...")), ["unit", "x", "count"])
        source = "from typing import Unpack\ndef f(**options: Unpack[dict]): ...\ndef g(a, **options: Unpack['Nobody']): ..."
        self.assertEqual([remark[1] for remark in remarks_of(source)][:1], ["f(**options)"])
        self.assertEqual(names_of(source), ["g"])

    def test_a_default_of_none_allows_null(self):
        self.assertEqual(properties_of("def f(a: int = None): ..."), {"a": {"anyOf": [INTEGER, NULL], "default": None}})
        described = properties_of("from typing import Annotated\ndef f(a: Annotated[int, 'A'] = None): ...")["a"]
        self.assertEqual(described, {"anyOf": [INTEGER, NULL], "description": "A", "default": None})
        self.assertEqual(properties_of("def f(a=None): ..."), {"a": {"default": None}})

    @needs("pydantic")
    def test_a_field_as_default(self):
        parameters = "a: int = Field(ge=1, description='A'), b: int = Field(3), c: list = Field(default_factory=list)"
        source = f"from pydantic import Field\ndef f({parameters}): ..."
        schema = one_tool(source)["inputSchema"]
        self.assertEqual(schema["required"], ["a"])
        self.assertEqual(schema["properties"]["a"], INTEGER | {"minimum": 1, "description": "A"})
        self.assertEqual(schema["properties"]["b"], INTEGER | {"default": 3})

    def test_where_the_script_describes_what(self):
        words = '    """Do.\n\n    Args:\n        a: no\n        b: B\n    """'
        tool = one_tool(f'from typing import Annotated\ndef f(a: Annotated[int, "A"], b: int, c: int):\n{words}')
        self.assertEqual(tool["source"], {"description": "Do.", "parameters": {"a": "A", "b": "B"}})
        self.assertEqual((tool["description"], tool["kind"], tool["function"], tool["line"]), ("Do.", "function", "f", 2))


class Defaults(unittest.TestCase):
    def test_values_that_reading_tells(self):
        before = '''
import datetime as dt, decimal, enum, math, uuid
from pathlib import Path
LIMIT = 10
NAMES = ["a", "b"]
class Color(enum.Enum):
    RED = "red"
class Settings:
    retries = 3
'''
        for text, value in (
            ("1", 1), ("-2.5", -2.5), ("True", True), ("'a' 'b'", "ab"), ("'a' + 'b'", "ab"), ("60 * 60", 3600),
            ("2 ** 10", 1024),
            ("LIMIT", 10), ("LIMIT // 3", 3), ("NAMES", ["a", "b"]), ("(1, 2)", [1, 2]), ("{'a': [1, None]}", {"a": [1, None]}),
            ("Color.RED", "red"), ("Color.RED.value", "red"), ("Color('red')", "red"), ("Settings.retries", 3),
            ("math.pi", 3.141592653589793),
            ("Path('a') ", "a"), ("Path('a', 'b')", "a/b"), ("Path()", "."), ("dt.date(2024, 2, 29)", "2024-02-29"),
            ("dt.datetime(2024, 1, 2, 3)", "2024-01-02T03:00:00"), ("dt.timedelta(days=1, seconds=90)", "P1DT1M30S"),
            ("dt.timedelta(milliseconds=-1500)", "-PT1.5S"), ("dt.timedelta()", "PT0S"), ("decimal.Decimal('1.50')", "1.50"),
            ("b'raw'", "raw"), ("list()", []), ("dict(a=1)", {"a": 1}), ("frozenset({'x'})", ["x"]),
        ):
            with self.subTest(text=text):
                self.assertEqual(properties_of(f"{before}\ndef f(a={text}): ...")["a"], {"default": value})

    def test_values_that_only_the_run_knows_are_not_shown(self):
        before = "import os, datetime, tempfile\nHERE = os.path.abspath('x')\n"
        for text in (
            "os.getcwd()", "HERE", "os.cpu_count()", "datetime.date.today()", "...", "float('inf')", "1e999", "b'\\xff'", "print",
            "lambda: 1", "{1: 2}", "1j", "10 ** 30", "'\\ud800'", "object()",
        ):
            with self.subTest(text=text):
                schema = one_tool(f"{before}\ndef f(a={text}): ...")["inputSchema"]
                self.assertEqual((schema["properties"], schema.get("required")), ({"a": {}}, None))

    def test_values_that_the_script_computes_are_shown(self):
        before = "import sys\nTWICE = 1\nTWICE = 2\nGROWS = 1\nGROWS += 1\nKEYS = [k for k in 'ab']\n"
        for text, value in (("TWICE", 2), ("GROWS", 2), ("KEYS", ["a", "b"]), ("f'{1}'", "1"), ("'%s' % 'x' * 3", "xxx")):
            with self.subTest(text=text):
                self.assertEqual(properties_of(f"{before}\ndef f(a={text}): ...")["a"], {"default": value})

    def test_lists_of_lists_of_lists_are_given_up(self):
        source = "A0 = 1\n" + "\n".join(f"A{number + 1} = [A{number}, A{number}]" for number in range(35))
        self.assertEqual(properties_of(f"{source}\ndef f(a=A35): ..."), {"a": {}})


if __name__ == "__main__":
    unittest.main()
