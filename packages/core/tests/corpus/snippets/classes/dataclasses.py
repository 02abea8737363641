from dataclasses import asdict, dataclass, field, fields, replace, FrozenInstanceError
@dataclass(order=True, frozen=True, slots=True, kw_only=False)
class Item:
    name: str
    price: float = 0.0
    tags: list[str] = field(default_factory=list, compare=False, repr=False)
item = Item("tea", 2.5, ["hot"])
print(item, asdict(item), replace(item, price=3), sorted([Item("b"), Item("a")])[0].name, [f.name for f in fields(Item)])
try:
    item.price = 1
except FrozenInstanceError as error:
    print(type(error).__name__, error)
Item()
