import sys
import unittest

from discovered import (
    BOOLEAN, FOREIGN, INTEGER, NULL, NUMBER, STRING, find, needs, one_tool, remarks_of, result_of, schema_of,
)

LIST_OF_INTEGERS = {"type": "array", "items": INTEGER}


class Annotations(unittest.TestCase):
    @needs("typing_extensions")
    def test_types_by_however_they_are_imported(self):
        for before, annotation, schema in (
            ("import typing", "typing.List[int]", LIST_OF_INTEGERS),
            ("import typing as t", "t.List[int]", LIST_OF_INTEGERS),
            ("from typing import List as L", "L[int]", LIST_OF_INTEGERS),
            ("from typing import *", "List[int]", LIST_OF_INTEGERS),
            ("from collections import abc", "abc.Sequence[int]", LIST_OF_INTEGERS),
            ("import collections.abc", "collections.abc.Sequence[int]", LIST_OF_INTEGERS),
            ("from typing_extensions import Literal", "Literal['a']", {"const": "a", "type": "string"}),
            ("if True:\n    from datetime import date", "date", {"type": "string", "format": "date"}),
            ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from uuid import UUID", "'UUID'",
             {"type": "string", "format": "uuid"}),
            ("try:\n    from pathlib import Path\nexcept ImportError:\n    Path = None", "Path",
             {"type": "string", "format": "path"}),
            ("from __future__ import annotations\nimport datetime as dt", "dt.datetime | None",
             {"anyOf": [{"type": "string", "format": "date-time"}, NULL]}),
        ):
            with self.subTest(before=before):
                self.assertEqual(schema_of(annotation, before), schema)

    def test_unions_of_all_spellings_are_flat(self):
        before = "from typing import Optional, Union\nNumber = Union[int, float]"
        flat = {"anyOf": [INTEGER, NUMBER, NULL]}
        for annotation in (
            "int | float | None", "Optional[Number]", "Union[int, Optional[float]]", "'Number | None'", "Number | 'None'",
        ):
            with self.subTest(annotation=annotation):
                self.assertEqual(schema_of(annotation, before), flat)
        self.assertEqual(schema_of("Union[int, int]", before), INTEGER)
        self.assertEqual(schema_of("Optional['list[int]']", before), {"anyOf": [LIST_OF_INTEGERS, NULL]})

    @needs("typing_extensions")
    def test_aliases_and_new_types(self):
        before = "from typing import NewType, TypeAlias, TypeVar\nT = TypeVar('T')\n"
        for line, annotation, schema in (
            ("Ids = list[int]", "Ids", LIST_OF_INTEGERS),
            ("Ids: TypeAlias = 'list[int]'", "Ids", LIST_OF_INTEGERS),
            ("UserId = NewType('UserId', int)", "UserId", INTEGER),
            ("Both = tuple[T, T]", "Both[int]", {"type": "array",
            "prefixItems": [INTEGER, INTEGER], "minItems": 2, "maxItems": 2}),
            ("By = dict[str, list[T]]", "By[int]", {"type": "object", "additionalProperties": LIST_OF_INTEGERS}),
            ("Many = list[T]", "Many", {"type": "array", "items": {}}),
            ("Either = TypeVar('Either', int, str)", "Either", {"anyOf": [INTEGER, STRING]}),
            ("Either = TypeVar('Either', int, str)\nMany = dict[T, Either]", "Many[str, Either]", {"type": "object",
            "additionalProperties": {
                "anyOf": [INTEGER, STRING]}}),
            ("from typing_extensions import TypeAliasType\nIds = TypeAliasType('Ids', list[int])", "Ids", LIST_OF_INTEGERS),
            ("Ids = str\nIds = list[int]", "Ids", LIST_OF_INTEGERS),
            ("Ids: type = list[int]", "Ids", LIST_OF_INTEGERS),
        ):
            with self.subTest(line=line):
                self.assertEqual(schema_of(annotation, before + line), schema)

    @unittest.skipIf(sys.version_info < (3, 12), "the type statement came with Python 3.12")
    def test_the_type_statement(self):
        self.assertEqual(schema_of("Ids", "type Ids = list[int]"), LIST_OF_INTEGERS)
        self.assertEqual(schema_of("Many[int]", "type Many[T] = list[T]"), LIST_OF_INTEGERS)
        tree = schema_of("Tree", "type Tree = dict[str, Tree] | int")
        self.assertEqual(tree, {"$ref": "#/$defs/Tree"})
        tool = one_tool("def first[T: int](items: list[T]) -> T: ...")
        self.assertEqual(tool["inputSchema"]["properties"]["items"], LIST_OF_INTEGERS)
        self.assertEqual(tool["outputSchema"]["properties"]["result"], INTEGER)

    def test_a_type_that_contains_itself_is_written_once(self):
        tool = one_tool("from typing import Union\nJson = Union[list['Json'], str]\ndef f(a: Json, b: Json): ...")
        reference = {"$ref": "#/$defs/Json"}
        self.assertEqual(tool["inputSchema"]["properties"], {"a": reference, "b": reference})
        self.assertEqual(tool["inputSchema"]["$defs"], {"Json": {"anyOf": [{"type": "array", "items": reference}, STRING]}})

    def test_a_type_that_is_nothing_but_itself_accepts_anything(self):
        for source in ("A = 'A'", "from typing import Union\nA = Union['A', int]", "A = 'B'\nB = 'A'"):
            with self.subTest(source=source):
                tools, remarks = find(f"{source}\ndef f(a: A): ...")
                self.assertEqual(tools[0]["inputSchema"]["properties"], {"a": {}})
                self.assertIn("nothing but itself", remarks[0]["reason"])

    def test_fixed_values(self):
        before = "import enum\nfrom typing import Literal\nMode = Literal['r', 'w']\nclass C(enum.Enum):\n    A = 'a'; B = 2"
        for annotation, schema in (
            ("Literal['x']", {"const": "x", "type": "string"}),
            ("Literal[1, True, 1]", {"enum": [1, True]}),
            ("Literal[-1, None]", {"enum": [-1, None]}),
            ("Literal[Mode, 'a']", {"enum": ["r", "w", "a"], "type": "string"}),
            ("Literal[C.A, C.B]", {"enum": ["a", 2]}),
        ):
            with self.subTest(annotation=annotation):
                self.assertEqual(schema_of(annotation, before), schema)

    @needs("pydantic", "typer")
    def test_what_annotated_says(self):
        before = (
            "from typing import Annotated, Optional\nfrom pydantic import Field, conint, conlist\n"
            "import typer\nimport annotated_types as at\nfrom typing_extensions import Doc\n"
            "LIMIT = 10\ndef _limit(): return 3\nSmall = Annotated[int, at.Lt(LIMIT)]\n"
        )
        for annotation, schema in (
            ("Annotated[int, 'How many']", INTEGER | {"description": "How many"}),
            ("Annotated[int, Doc('How many')]", INTEGER | {"description": "How many"}),
            ("Annotated[int, typer.Option(help='How many', min=1)]", INTEGER | {"description": "How many", "minimum": 1}),
            ("Annotated[int, object(), print, 'text', Field(ge=2)]", INTEGER | {"description": "text", "minimum": 2}),
            ("Annotated[str, Field(min_length=1, pattern=r'^a')]", STRING | {"minLength": 1, "pattern": "^a"}),
            ("Annotated[dict[str, int], Field(max_length=3)]",
             {"type": "object", "additionalProperties": INTEGER, "maxProperties": 3}),
            ("Annotated[Optional[list[int]], Field(min_length=1)]", {"anyOf": [LIST_OF_INTEGERS | {"minItems": 1}, NULL]}),
            ("Annotated[Small, 'Less']", INTEGER | {"exclusiveMaximum": 10, "description": "Less"}),
            ("Annotated[int, Field(gt=_limit(), description='d', json_schema_extra={'x-unit': 'm'}, deprecated=True)]",
             INTEGER | {"exclusiveMinimum": 3, "description": "d", "x-unit": "m", "deprecated": True}),
            ("conint(gt=0, multiple_of=5)", INTEGER | {"exclusiveMinimum": 0, "multipleOf": 5}),
            ("conlist(int, min_length=2)", LIST_OF_INTEGERS | {"minItems": 2}),
        ):
            with self.subTest(annotation=annotation):
                self.assertEqual(schema_of(annotation, before), schema)

    def test_what_is_not_known_accepts_anything_with_a_remark(self):
        # A class of another package that declares no fields.
        before = f"{FOREIGN}\nBasket = _package('shop', 'Basket').Basket\n"
        source = f"{before}def f(a: Basket, b: 'nowhere', c: 3, d: 'not a type', e: Basket = None): ..."
        tools, _ = find(source)
        schema = tools[0]["inputSchema"]
        self.assertEqual(schema["properties"], {"a": {}, "b": {}, "c": {}, "d": {}, "e": {"default": None}})
        self.assertEqual(schema["required"], ["a", "b", "c", "d"])
        self.assertEqual(remarks_of(source)[0], (
            9, "f(a)", "shop.Basket is a class of another package that declares no fields: anything is accepted.", False,
        ))
        self.assertEqual([name for _, name, _, _ in remarks_of(source)], ["f(a)", "f(b)", "f(c)", "f(d)", "f(e)"])

    def test_what_json_cannot_bring_is_left_out_or_skips_the_function(self):
        source = (
            "import typing, threading\ndef a(action: typing.Callable[[int], int]): ...\n"
            "def b(number: int, action: typing.Optional[typing.Callable] = None): ...\n"
            "def c(lock: threading.Lock): ...\ndef d(either: typing.Callable | str): ...\n"
        )
        tools, remarks = find(source)
        self.assertEqual({tool["name"]: tool["inputSchema"]["properties"] for tool in tools}, {
            "b": {"number": INTEGER}, "d": {"either": STRING},
        })
        self.assertEqual([(each["line"], each["name"], each["isSkipped"]) for each in remarks], [
            (2, "a(action)", True), (3, "b(action)", False), (4, "c(lock)", True), (5, "d(either)", False),
        ])

    def test_a_name_of_the_script_hides_the_builtin(self):
        self.assertEqual(schema_of("int", "int = str"), STRING)
        tools, remarks = find("class list: ...\ndef f(a: list): ...")
        self.assertEqual((tools, remarks[0]["isSkipped"]), ([], True))

    def test_large_types_are_given_up(self):
        doubled = "A0 = int\n" + "\n".join(f"A{number + 1} = tuple[A{number}, A{number}]" for number in range(30))
        for annotation, before in (("list[" * 80 + "int" + "]" * 80, ""), ("A30", doubled)):
            tools, remarks = find(f"{before}\ndef f(value: {annotation}): ...")
            self.assertLess(len(str(tools)), 20_000)
            self.assertLessEqual(len(remarks), 1)
        self.assertEqual(schema_of(f"tuple[{', '.join(['int'] * 5000)}]"), {})
        self.assertEqual(schema_of(" | ".join(["int"] * 500)), INTEGER)


class Results(unittest.TestCase):
    def test_objects_are_themselves_and_others_are_wrapped(self):
        self.assertEqual(result_of("dict[str, int]"), {"type": "object", "additionalProperties": INTEGER})
        self.assertEqual(result_of("int"), {"type": "object", "properties": {"result": INTEGER}, "required": ["result"]})
        for annotation, wraps in (("dict", False), ("bool", True), ("dict | None", True)):
            with self.subTest(annotation=annotation):
                self.assertIs(one_tool(f"def f() -> {annotation}: ...")["wrapsResult"], wraps)

    def test_what_promises_nothing(self):
        before = (
            f"{FOREIGN}\nimport typing\nfrom typing import Any\nImage = _package('PIL.Image', 'Image')\n"
            "plt, shop = _package('matplotlib.figure', 'Figure'), _package('shop', 'Basket')\n"
            "from dataclasses import dataclass\n@dataclass\nclass Holder:\n    data: bytes\n"
        )
        for annotation in (
            "None", "Any", "bytes", "bytes | None", "Image.Image", "list[Image.Image]", "plt.Figure", "shop.Basket", "list",
            "list[Any]",
            "dict[str, shop.Basket]", "typing.Callable", "complex", "Holder", "object", "typing.NoReturn",
        ):
            with self.subTest(annotation=annotation):
                tool = one_tool(f"{before}\ndef f() -> {annotation}: ...")
                self.assertEqual((tool["outputSchema"], tool["wrapsResult"]), (None, False))
        self.assertIsNone(one_tool("def f(): ...")["outputSchema"])

    def test_what_is_awaited_or_gathered(self):
        before = "from typing import *"
        for annotation, schema in (
            ("Iterator[int]", LIST_OF_INTEGERS),
            ("Generator[int, None, str]", LIST_OF_INTEGERS),
            ("AsyncIterator[int]", LIST_OF_INTEGERS),
            ("Awaitable[int]", INTEGER),
            ("Coroutine[Any, Any, bool]", BOOLEAN),
        ):
            with self.subTest(annotation=annotation):
                self.assertEqual(result_of(annotation, before)["properties"]["result"], schema)

    def test_results_are_written_as_calls_write_them(self):
        before = f"{FOREIGN}\npd = _package('pandas', 'DataFrame')\nimport decimal\nfrom typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n"
        self.assertEqual(result_of("decimal.Decimal", before)["properties"]["result"], STRING)
        self.assertEqual(result_of("P", before), {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]})
        rows = {"type": "array", "items": {"type": "object"}}
        self.assertEqual(result_of("pd.DataFrame", before)["properties"]["result"], rows)


if __name__ == "__main__":
    unittest.main()
