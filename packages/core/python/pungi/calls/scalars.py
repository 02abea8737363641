"""Converts JSON to plain types, and to types that are written as text."""

import sys

from .texts import decode_as, read_base64, read_date, read_datetime, read_number, read_time, read_timedelta
from .texts import to_truth, to_whole_number
from .words import describe_actual


class Unfit(Exception):
    """The value cannot be converted."""

    def __init__(self, path, reason):
        super().__init__(reason)
        self.path = path
        self.reason = reason


PLAIN_TYPES = (str, int, float, bool, list, dict, tuple, set, frozenset, bytes, bytearray, complex)
_PLAIN_WORDS = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "an object",
    tuple: "a list", set: "a list of what a set can hold", frozenset: "a list of what a set can hold",
    bytes: "a text or base64", bytearray: "a text or base64", complex: "a number such as 1+2j",
}


def plain_value(kind, value, path):
    if type(value) is kind:
        return value
    try:
        return _PLAIN_READERS[kind](value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise Unfit(path, f"expected {_PLAIN_WORDS[kind]}, got {describe_actual(value)}") from None


def hint_words(hint):
    """Describes the values that a type hint allows."""
    if hint is type(None):
        return "null"
    origin = getattr(hint, "__origin__", hint)
    if isinstance(origin, type):
        return _PLAIN_WORDS.get(origin) or _READER_WORDS.get(origin.__name__) or origin.__name__
    return str(hint).replace("typing.", "")


def _refuse_plain(value):
    raise ValueError("of another type")


def to_float(value):
    if type(value) is int:
        return float(value)
    return float(read_number(value) if type(value) is str else _refuse_plain(value))


def to_bytes(value):
    """Decodes a data URL, or a text that can only be base64; encodes any other text as UTF-8."""
    if type(value) is not str:
        _refuse_plain(value)
    try:
        if value.startswith("data:") or _is_surely_base64(value):
            return read_base64(value)
    except ValueError:
        pass
    return value.encode("utf-8", "surrogatepass")


def _is_surely_base64(text):
    """Requires padding, or the length and the mixture of letters and digits that no word has: four letters are base64, too."""
    text = "".join(text.split())
    is_mixed = len(text) >= 16 and any(map(str.isupper, text)) and any(map(str.islower, text)) and any(map(str.isdigit, text))
    return len(text) % 4 == 0 and (is_mixed or text.endswith("="))


def _to_complex(value):
    if type(value) in (int, float):
        return complex(value)
    return complex(value.replace(" ", "")) if type(value) is str else _refuse_plain(value)


_PLAIN_READERS = {
    str: _refuse_plain,
    int: to_whole_number,
    float: to_float,
    bool: to_truth,
    list: lambda value: decode_as(list, value),
    dict: lambda value: decode_as(dict, value),
    tuple: lambda value: tuple(value if type(value) is list else decode_as(list, value)),
    set: lambda value: set(value if type(value) is list else decode_as(list, value)),
    frozenset: lambda value: frozenset(value if type(value) is list else decode_as(list, value)),
    bytes: to_bytes,
    bytearray: lambda value: bytearray(to_bytes(value)),
    complex: _to_complex,
}


def _moment(kind, value):
    if type(value) in (int, float):
        return kind.fromtimestamp(value, sys.modules["datetime"].timezone.utc)
    return read_datetime(value)


def _span(kind, value):
    return kind(seconds=value) if type(value) in (int, float) else read_timedelta(value)


def _decimal(kind, value):
    # By its repr: 0.1 stays 0.1.
    return kind(repr(value) if type(value) is float else value.strip() if type(value) is str else value)


def _of_text(kind, value):
    return kind(value if type(value) is str else _refuse_plain(value))


def _pattern(kind, value):
    return sys.modules["re"].compile(value if type(value) is str else _refuse_plain(value))


_TEXT_READERS = {
    "datetime.datetime": _moment,
    "datetime.date": lambda kind, value: read_date(value),
    "datetime.time": lambda kind, value: read_time(value),
    "datetime.timedelta": _span,
    "decimal.Decimal": _decimal,
    "fractions.Fraction": lambda kind, value: kind(value),
    "uuid.UUID": _of_text,
    "re.Pattern": _pattern,
    **{f"ipaddress.IPv{version}{what}": _of_text for version in (4, 6) for what in ("Address", "Network", "Interface")},
    "zoneinfo.ZoneInfo": _of_text,
}
_READER_WORDS = {
    "datetime": "a date and time such as 2025-01-31T09:30:00", "date": "a date such as 2025-01-31",
    "time": "a time such as 09:30:00", "timedelta": "a duration such as PT1H30M, or seconds", "Decimal": "a decimal number",
    "Fraction": "a fraction such as 3/4", "Pattern": "a regular expression",
}


def text_value(kind, value, path):
    """Converts a text to such a type; returns NOT_A_TEXT for other classes."""
    reader = _TEXT_READERS.get(f"{kind.__module__}.{kind.__qualname__}")
    if reader is None and kind.__module__.startswith("pathlib"):
        reader = _of_text
    if reader is None:
        return NOT_A_TEXT
    try:
        if type(value) is bool:
            _refuse_plain(value)
        return reader(kind, value)
    except Exception:  # each of them has exceptions of its own
        wanted = _READER_WORDS.get(kind.__name__, f"a text for {kind.__name__}")
        raise Unfit(path, f"expected {wanted}, got {describe_actual(value)}") from None


NOT_A_TEXT = object()
