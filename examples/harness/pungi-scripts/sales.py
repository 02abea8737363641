"""Figures of sales."""

from dataclasses import dataclass
from typing import Literal


@dataclass
class Total:
    net: float
    gross: float


def total(amounts: list[float], country: Literal["de", "fr"] = "de") -> Total:
    """Adds amounts up.

    Args:
        amounts: net amounts
        country: whose tax holds
    """
    print("adding", len(amounts), "amounts")
    net = sum(amounts)
    return Total(net, net * {"de": 1.25, "fr": 1.2}[country])


def wait(seconds: float) -> str:
    """Says that it waits, and waits."""
    import time

    print("waiting", flush=True)
    time.sleep(seconds)
    return "waited"
