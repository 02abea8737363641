from typing import Generic, Literal, NamedTuple, Optional, Protocol, TypedDict, TypeVar, Union, get_type_hints, runtime_checkable
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, value: T) -> None: self.value = value
class Movie(TypedDict, total=False):
    title: str
@runtime_checkable
class Closes(Protocol):
    def close(self) -> None: ...
def f(a: int, b: "Optional[str]" = None) -> list[Union[int, str]]: ...
print(Box[int], get_type_hints(f), Movie(title="x"), isinstance(open("main.py"), Closes), Literal["a", "b"], int | None)
