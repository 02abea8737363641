import unittest

from discovered import FOREIGN, INTEGER, NULL, NUMBER, STRING, find, needs, one_tool, remarks_of, result_of, schema_of


def object_of(properties, required=(), **more):
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {}), **more}


class Classes(unittest.TestCase):
    def test_a_dataclass(self):
        before = '''
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Callable, ClassVar
@dataclass(frozen=True)
class Base:
    name: str
    count: ClassVar[int] = 0
@dataclass(frozen=True)
class Order(Base):
    """What is bought.

    Attributes:
        amount: How many.
    """
    amount: int = 2 * 3
    _: KW_ONLY
    tags: list[str] = field(default_factory=list)
    price: float = field(default=1.5, metadata={"description": "Of one."})
    seed: InitVar[int] = 0
    total: float = field(init=False)
    hook: Callable = print
'''
        expected = {
            "name": STRING, "amount": INTEGER | {"description": "How many.", "default": 6},
            "tags": {"type": "array", "items": STRING}, "price": NUMBER | {"description": "Of one.", "default": 1.5},
            "seed": INTEGER | {"default": 0},
        }
        words = {"description": "What is bought."}
        self.assertEqual(schema_of("Order", before), object_of(expected, ["name"], additionalProperties=False, **words))
        out = one_tool(f"{before}\ndef f() -> Base: ...")["outputSchema"]
        self.assertEqual(out, object_of({"name": STRING}, ["name"]))

    def test_a_dataclass_that_needs_what_json_cannot_bring_is_refused(self):
        before = "from dataclasses import dataclass\nfrom typing import Callable\n@dataclass\nclass A:\n    hook: Callable"
        source = f"{before}\ndef f(a: A): ..."
        self.assertEqual(find(source)[0], [])
        self.assertEqual(remarks_of(source), [(6, "f(a)", "JSON can express no collections.abc.Callable.", True)])

    @needs("typing_extensions")
    def test_typed_dicts(self):
        before = '''
from typing import Annotated, TypedDict
from typing_extensions import NotRequired, ReadOnly, Required
class A(TypedDict, total=False):
    a: Required[int]
    b: str
class B(A):
    c: NotRequired[Annotated[int, "Third"]]
    d: ReadOnly[Required["int"]]
C = TypedDict("C", {"in": int, "out": "NotRequired[str]"})
D = TypedDict("D", {"x": int}, total=False)
'''
        a, b = {"a": INTEGER, "b": STRING}, {"c": INTEGER | {"description": "Third"}, "d": INTEGER}
        self.assertEqual(schema_of("A", before), object_of(a, ["a"], additionalProperties=False))
        self.assertEqual(schema_of("B", before), object_of(a | b, ["a", "d"], additionalProperties=False))
        self.assertEqual(schema_of("C", before), object_of({"in": INTEGER, "out": STRING}, ["in"], additionalProperties=False))
        self.assertEqual(schema_of("D", before), object_of({"x": INTEGER}, additionalProperties=False))

    def test_named_tuples(self):
        before = '''
import collections
from typing import NamedTuple
class P(NamedTuple):
    x: int
    y: int = 0
Q = NamedTuple("Q", [("x", int), ("y", str)])
R = collections.namedtuple("R", "x y", defaults=[3])
S = collections.namedtuple("S", ["x"])
class T(S):
    def method(self): ...
class U(collections.namedtuple("U", "x")):
    pass
'''
        for name, properties, required in (
            ("P", {"x": INTEGER, "y": INTEGER | {"default": 0}}, ["x"]),
            ("Q", {"x": INTEGER, "y": STRING}, ["x", "y"]),
            ("R", {"x": {}, "y": {"default": 3}}, ["x"]),
            ("T", {"x": {}}, ["x"]),
            ("U", {"x": {}}, ["x"]),
        ):
            with self.subTest(name=name):
                self.assertEqual(schema_of(name, before), object_of(properties, required, additionalProperties=False))

    def test_enums(self):
        before = '''
from enum import Enum, Flag, IntEnum, auto
try:
    from enum import StrEnum
except ImportError:
    class StrEnum(str, Enum):
        def _generate_next_value_(name, start, count, last): return name.lower()
FIRST = "one"
class Color(Enum):
    """Of a lamp."""
    _ignore_ = ["x"]
    RED = "red"
    ROT = "red"
    BLUE = FIRST
    def method(self): ...
class Level(IntEnum):
    LOW = 5
    HIGH = auto()
class Name(StrEnum):
    ALPHA = auto()
class Base(str, Enum):
    def upper(self): ...
class Derived(Base):
    A = "a"
class Counted(str, Enum):
    A = auto()
    B = auto()
class Pair(Enum):
    A = (1, 2)
    B = object()
class Rights(Flag):
    R = auto()
    W = auto()
Made = Enum("Made", "A B")
Named = Enum("Named", {"A": "x", "B": "y"})
Listed = Enum("Listed", [("A", 1), ("B", 7)])
'''
        for name, schema in (
            ("Color", {"enum": ["red", "one"], "type": "string", "description": "Of a lamp."}),
            ("Level", {"enum": [5, 6], "type": "integer"}),
            ("Name", {"enum": ["alpha"], "type": "string"}),
            ("Derived", {"enum": ["a"], "type": "string"}),
            ("Counted", {"enum": ["1", "2"], "type": "string"}),
            ("Pair", {"enum": ["A", "B"], "type": "string"}),
            ("Rights", INTEGER),
            ("Made", {"enum": [1, 2], "type": "integer"}),
            ("Named", {"enum": ["x", "y"], "type": "string"}),
            ("Listed", {"enum": [1, 7], "type": "integer"}),
        ):
            with self.subTest(name=name):
                self.assertEqual(schema_of(name, before), schema)
        self.assertIsNone(result_of("Pair", before))

    @needs("pydantic")
    def test_pydantic_models(self):
        before = '''
from typing import Annotated, Generic, Optional, TypeVar
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PrivateAttr, RootModel, computed_field
from pydantic.alias_generators import to_camel
T = TypeVar("T")
class Base(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)
    first_name: str
    """How one is called."""
    _secret: int = PrivateAttr(0)
class User(Base):
    """Somebody."""
    age: Optional[int] = Field(None, ge=0, le=150, description="In years", examples=[30])
    mail: Annotated[str, Field(alias="e-mail", pattern="@")]
    nick: str = Field(..., validation_alias=AliasChoices("nick", "handle"))
    hidden: str = Field("x", exclude=True)
    kind: str = Field(default_factory=str)
class Open(BaseModel, extra="allow"):
    x: int
class Old(BaseModel):
    x: int = Field(alias="X")
    class Config:
        extra = "forbid"
        serialize_by_alias = True
class Plain(BaseModel):
    model_config = {"extra": "forbid"}
    x: int
class Names(RootModel[list[str]]):
    """All of them."""
class Box(BaseModel, Generic[T]):
    content: T
class IntBox(Box[int]):
    more: bool = False
class Sided(BaseModel):
    side: float
    @computed_field
    @property
    def area(self) -> float: ...
'''
        self.assertEqual(schema_of("User", before), object_of({
            "firstName": STRING | {"description": "How one is called."},
            "age": {"anyOf": [INTEGER | {"minimum": 0, "maximum": 150}, NULL], "description": "In years", "examples": [30],
                    "default": None},
            "e-mail": STRING | {"pattern": "@"}, "nick": STRING, "hidden": STRING | {"default": "x"}, "kind": STRING,
        }, ["firstName", "e-mail", "nick"], additionalProperties=False, description="Somebody."))
        out = result_of("User", before)
        self.assertEqual(list(out["properties"]), ["first_name", "age", "mail", "nick", "kind"])
        self.assertEqual(schema_of("Open", before), object_of({"x": INTEGER}, ["x"], additionalProperties=True))
        for mode in (schema_of, result_of):
            self.assertEqual(mode("Old", before), object_of({"X": INTEGER}, ["X"], additionalProperties=False))
        self.assertEqual(schema_of("Plain", before), object_of({"x": INTEGER}, ["x"], additionalProperties=False))
        self.assertEqual(schema_of("Names", before), {"type": "array", "items": STRING, "description": "All of them."})
        self.assertEqual(schema_of("Box[int]", before), object_of({"content": INTEGER}, ["content"]))
        self.assertEqual(schema_of("Box[list[str]]", before)["properties"]["content"], {"type": "array", "items": STRING})
        self.assertEqual(schema_of("Box", before), object_of({"content": {}}, ["content"]))
        self.assertEqual(schema_of("IntBox", before)["properties"]["content"], INTEGER)
        self.assertEqual(list(schema_of("Sided", before)["properties"]), ["side"])
        self.assertEqual(result_of("Sided", before)["properties"]["area"], NUMBER | {"readOnly": True})

    @needs("attrs")
    def test_an_attrs_class(self):
        before = '''
import attrs
@attrs.define
class A:
    _x: int
    y: str = attrs.field(default="a")
    z: list = attrs.field(factory=list)
'''
        expected = {"x": INTEGER, "y": STRING | {"default": "a"}, "z": {"type": "array", "items": {}}}
        self.assertEqual(schema_of("A", before), object_of(expected, ["x"], additionalProperties=False))

    def test_classes_that_contain_themselves_or_each_other(self):
        tool = one_tool('''
from dataclasses import dataclass
from typing import Optional
@dataclass
class Node:
    children: list["Node"]
    edge: Optional["Edge"] = None
@dataclass
class Edge:
    to: Node
def f(root: Node) -> Node: ...
''')
        for schema, root in ((tool["inputSchema"], None), (tool["outputSchema"], tool["outputSchema"])):
            self.assertEqual(set(schema["$defs"]), {"Node", "Edge"})
            node = schema["$defs"]["Node"]
            self.assertEqual(node["properties"]["children"]["items"], {"$ref": "#/$defs/Node"})
            if root:
                self.assertEqual((root["type"], root["properties"]), ("object", node["properties"]))
        self.assertEqual(tool["inputSchema"]["properties"]["root"], {"$ref": "#/$defs/Node"})
        self.assertFalse(tool["wrapsResult"])

    def test_a_class_used_twice_is_written_once(self):
        before = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        tool = one_tool(f"{before}\ndef f(a: P, b: list[P]): ...")
        self.assertEqual(tool["inputSchema"]["$defs"], {"P": object_of({"x": INTEGER}, ["x"], additionalProperties=False)})
        self.assertNotIn("$defs", one_tool(f"{before}\ndef f(a: P): ...")["inputSchema"])

    @needs("pydantic")
    def test_generic_classes_of_different_types_are_kept_apart(self):
        tool = one_tool('''
from typing import Generic, TypeVar
from pydantic import BaseModel
T = TypeVar("T")
class Box(BaseModel, Generic[T]):
    content: T
class Pair(BaseModel, Generic[T]):
    left: Box[T]
    right: Box[list[T]]
def f(a: Pair[int], b: Pair[str]): ...
''')
        a, b = (tool["inputSchema"]["properties"][name]["properties"] for name in ("a", "b"))
        self.assertEqual(a["left"]["properties"]["content"], INTEGER)
        self.assertEqual(a["right"]["properties"]["content"], {"type": "array", "items": INTEGER})
        self.assertEqual(b["left"]["properties"]["content"], STRING)

    def test_classes_within_classes(self):
        before = "from dataclasses import dataclass\nclass Outer:\n    @dataclass\n    class Inner:\n        x: int\n"
        self.assertEqual(schema_of("Outer.Inner", before)["properties"], {"x": INTEGER})

    def test_other_classes(self):
        for definition, is_skipped in (
            ("class A: ...", True),
            ("from typing import Protocol\nclass A(Protocol): ...", True),
            ("import threading\nclass A(threading.Thread): ...", True),
            (f"{FOREIGN}\nA = _package('shop', 'Base').Base", False),
        ):
            with self.subTest(definition=definition):
                remarks = remarks_of(f"{definition}\ndef f(a: A): ...")
                self.assertEqual((remarks[-1][1], remarks[-1][3]), ("f(a)", is_skipped))
        self.assertEqual(schema_of("Name", "class Name(str): ..."), STRING)
        self.assertEqual(schema_of("Name", "import abc\nclass Name(abc.ABC, str): ..."), STRING)
        self.assertEqual(schema_of("Short", "class Name(str): ...\nclass Short(Name): ..."), STRING)

    def test_classes_are_no_tools_and_it_says_so_unless_they_hold_data(self):
        source = (
            "import dataclasses, enum\n@dataclasses.dataclass\nclass Data:\n    x: int\nclass Kind(enum.Enum):\n    A = 1\n"
            "class Fault(ValueError): ...\nclass Client:\n    def get(self): ...\nclass _Own: ...\ndef f(a: Data, b: Kind): ...\n"
        )
        (remark,) = remarks_of(source)
        self.assertEqual(remark, (8, "Client", "It is a class, and only functions become tools: write a function that uses it.", True))


if __name__ == "__main__":
    unittest.main()
