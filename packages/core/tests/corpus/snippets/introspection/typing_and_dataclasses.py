from __future__ import annotations
import dataclasses, inspect, typing
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, Optional, Protocol, TypedDict, TypeVar, get_args, get_origin, get_type_hints
T = TypeVar("T")
@dataclasses.dataclass(order=True)
class Point(Generic[T]):
    """A point."""
    x: int
    y: Annotated[int, "up"] = dataclasses.field(default=0, metadata={"unit": "m"}, compare=False)
    tags: list[str] = dataclasses.field(default_factory=list, repr=False)
    count: ClassVar[int] = 0
    near: Optional["Point"] = None
    def __post_init__(self): type(self).count += 1
print(get_type_hints(Point), get_type_hints(Point, include_extras=True)["y"])
print([(field.name, field.type, field.metadata) for field in dataclasses.fields(Point)])
print(inspect.signature(Point), inspect.getdoc(Point), inspect.getsource(Point).splitlines()[0])
print(Point(1) < Point(2, 5), dataclasses.asdict(Point(1, near=Point(2))), dataclasses.replace(Point(3), x=4), Point.count)
@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    name: str
try:
    Frozen(name="a").name = "b"
except dataclasses.FrozenInstanceError as error:
    print(error)
class Movie(TypedDict, total=False):
    title: str
class Pair(NamedTuple):
    left: int
    right: str = "r"
@typing.runtime_checkable
class Closable(Protocol):
    def close(self) -> None: ...
def call(a: int, /, b: Literal["x", "y"] = "x", *args: Any, key: T | None = None, **rest) -> dict[str, T]: ...
print(get_type_hints(call), inspect.signature(call), inspect.getfullargspec(call).kwonlydefaults)
print(Movie.__annotations__, Movie.__total__, Pair(1), Pair._field_defaults, isinstance(open("main.py"), Closable), Point[int], get_origin(dict[str, int]), get_args(Literal[1, 2]))
print(Point.__module__, Point.__qualname__, Point.__mro__, dataclasses.make_dataclass("Made", ["a"])(1))
Frozen("positional")
