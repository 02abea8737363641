"""What is in the store, asked of a table that the script carries."""

import asyncio
from enum import Enum
from typing import Annotated, Literal, TypedDict


class Unit(Enum):
    PIECE = "piece"
    KILOGRAM = "kg"


class Item(TypedDict):
    name: str
    count: float
    unit: Unit


_STOCK: list[Item] = [
    {"name": "apples", "count": 12.5, "unit": Unit.KILOGRAM},
    {"name": "baskets", "count": 40, "unit": Unit.PIECE},
]


def find(text: Annotated[str, "part of a name"] = "", unit: Unit | None = None) -> list[Item]:
    """Items whose name contains a text, of one unit or of all."""
    return [item for item in _STOCK if text in item["name"] and unit in (None, item["unit"])]


async def reserve(name: str, count: float, priority: Literal["low", "high"] = "low") -> str:
    """Sets some of an item aside.

    Parameters
    ----------
    name : str
        the item, by its whole name
    count : float
        how much of it
    """
    for step in ("looking", "counting"):
        print(step)
        await asyncio.sleep(0)
    item = next((item for item in _STOCK if item["name"] == name), None)
    if item is None:
        raise LookupError(f"There are no {name} in the store.")
    if count > item["count"]:
        raise ValueError(f"Only {item['count']} of {name} are left.")
    return f"{count} {item['unit'].value} of {name}, {priority} priority"


def forget_everything():
    """Empties the table. Not a tool that agents should have."""
    _STOCK.clear()
