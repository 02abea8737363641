"""Monthly figures of a shop, as one colleague has used them for years."""

from dataclasses import dataclass
from datetime import date
from statistics import mean

print("sales.py is loaded")  # as scripts do; it is kept apart from results


@dataclass
class Sale:
    day: date
    product: str
    amount: float


def totals(sales: list[Sale]) -> dict[str, float]:
    """Sums the amounts of each product.

    Args:
        sales: what was sold
    """
    sums: dict[str, float] = {}
    for sale in sales:
        sums[sale.product] = sums.get(sale.product, 0) + sale.amount
    return sums


def best_day(sales: list[Sale]) -> date:
    """The day on which most was earned."""
    days: dict[date, float] = {}
    for sale in sales:
        days[sale.day] = days.get(sale.day, 0) + sale.amount
    return max(days, key=lambda day: days[day])


def average(amounts: list[float], digits: int = 2) -> float:
    """The mean of some amounts.

    Args:
        amounts: at least one
        digits: how many places to keep
    """
    return round(mean(amounts), digits)


def _rounded(value):
    return round(value, 2)
