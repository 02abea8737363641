"""Converts values of a script, such as defaults, to JSON, if they are the same in every run and on every machine."""

import datetime
import enum
import os

from ..calls.shown import class_name_of

_LONGEST_TEXT, _MOST_ITEMS, _DEEPEST = 1000, 100, 5
_LARGEST_WHOLE = 1 << 53
_AS_TEXT = {"decimal.Decimal", "uuid.UUID", "zoneinfo.ZoneInfo", "fractions.Fraction"}


class Unknown(Exception):
    """The value cannot be written as plain JSON."""


def plain_value(value):
    """Raises Unknown."""
    budget = [_MOST_ITEMS]
    return _plain(value, budget, 0)


def plain_or(value, otherwise=None):
    try:
        return plain_value(value)
    except Unknown:
        return otherwise


def _plain(value, budget, depth):
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEEPEST:
        raise Unknown
    kind = type(value)
    if value is None or kind is bool:
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value, budget, depth)
    if isinstance(value, int):
        return _known(int(value), abs(value) <= _LARGEST_WHOLE)
    if isinstance(value, float):
        return _known(float(value), value == value and abs(value) != float("inf"))
    if isinstance(value, str):
        return _text(str(value))
    if kind is bytes:
        return _text(_decoded(value))
    if kind in (list, tuple, set, frozenset) or kind.__name__ in ("dict_keys", "dict_values"):
        return [_plain(each, budget, depth + 1) for each in (sorted(value, key=str) if kind in (set, frozenset) else value)]
    if kind is dict:
        if not all(isinstance(key, str) for key in value):
            raise Unknown
        return {key: _plain(each, budget, depth + 1) for key, each in value.items()}
    return _written(value, kind)


def _written(value, kind):
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return iso_duration(value)
    if isinstance(value, os.PathLike):
        return _text(os.fspath(value))
    if class_name_of(kind) in _AS_TEXT or f"{kind.__module__}.{kind.__name__}" in _AS_TEXT:
        return str(value)
    raise Unknown


def _known(value, is_known):
    if not is_known:
        raise Unknown
    return value


def _decoded(value):
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise Unknown from None


def _text(value):
    """Refuses long texts, and texts that contain the work folder of this run."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or os.getcwd() in value:
        raise Unknown
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Unknown from None
    return value


def iso_duration(delta):
    """As "P1DT2H" and the like, which is what a schema's format "duration" wants."""
    sign = "-" if delta < datetime.timedelta(0) else ""
    delta = abs(delta)
    hours, rest = divmod(delta.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    exact = f"{seconds}.{delta.microseconds:06d}".rstrip("0") if delta.microseconds else str(seconds)
    clock = "".join((f"{hours}H" if hours else "", f"{minutes}M" if minutes else "", f"{exact}S" if exact != "0" else ""))
    days = f"{delta.days}D" if delta.days else ""
    return f"{sign}P{days}{'T' + clock if clock else ''}" if days or clock else "PT0S"
