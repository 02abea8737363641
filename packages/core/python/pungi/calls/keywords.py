"""Single keywords of JSON Schema: the check of a value, and the conversion of a value to a type."""

import json
import re

from .texts import decode_as, read_base64, read_date, read_datetime, read_time, read_timedelta
from .texts import to_number, to_truth, to_whole_number
from .words import cut_shown, describe_actual

FORMAT_WORDS = {
    "date-time": "a date and time such as 2025-01-31T09:30:00",
    "date": "a date such as 2025-01-31",
    "time": "a time such as 09:30:00",
    "duration": "a duration such as PT1H30M",
    "uuid": "a UUID",
}
_UUID_TEXT = re.compile(r"(?:urn:uuid:)?\{?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?")


def _read_uuid_text(text):
    if not _UUID_TEXT.fullmatch(text):
        raise ValueError("no UUID")


_FORMAT_READERS = {
    "date-time": read_datetime, "date": read_date, "time": read_time, "duration": read_timedelta, "uuid": _read_uuid_text,
}


def is_of_kind(kind, value):
    if kind == "number":
        return type(value) in (int, float)
    kinds = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    return type(value) is kinds.get(kind, type(value))


def turned_into(kinds, value):
    """Returns the value converted to one of these types, and whether that worked."""
    for kind in ("integer", "number", "boolean", "array", "object", "null"):
        if kind in kinds:
            try:
                return _TURNED[kind](value), True
            except (ValueError, KeyError, OverflowError, RecursionError):
                pass
    return value, False


_TURNED = {
    "integer": to_whole_number,
    "number": to_number,
    "boolean": to_truth,
    "array": lambda value: decode_as(list, value),
    "object": lambda value: decode_as(dict, value),
    "null": lambda value: {"null": None}[value if type(value) is str else ""],
}


def fit_choices(schema, value, is_lax):
    choices = schema["enum"] if type(schema.get("enum")) is list else [schema["const"]] if "const" in schema else None
    if choices is None or any(_is_same_json(value, choice) for choice in choices):
        return value, True
    if is_lax and type(value) is str:
        for choice in choices:
            if type(choice) in (bool, int, float) and json.dumps(choice) == value.strip():
                return choice, True
    return value, False


def _is_same_json(one, other):
    """1 equals 1.0, but not true."""
    if type(one) is bool or type(other) is bool:
        return one is other
    return one == other


def text_faults(schema, text, tries_patterns):
    yield from count_faults(schema, len(text), "Length", "characters")
    reader = _FORMAT_READERS.get(schema["format"]) if type(schema.get("format")) is str else None
    try:
        if reader is not None:
            reader(text)
    except (ValueError, OverflowError):
        yield f"expected {FORMAT_WORDS[schema['format']]}, got {describe_actual(text)}"
    if schema.get("contentEncoding") == "base64":
        try:
            read_base64(text)
        except ValueError:
            yield f"expected base64 text, got {describe_actual(text)}"
    pattern = schema.get("pattern")
    if tries_patterns and type(pattern) is str:
        try:
            is_like_it = re.search(pattern, text)
        except (re.error, OverflowError, RecursionError):
            is_like_it = True  # of another language than Python's
        if not is_like_it:
            yield f"expected a text that matches {cut_shown(pattern)}, got {describe_actual(text)}"


_BOUNDS = (
    ("minimum", "at least", lambda value, bound: value >= bound),
    ("maximum", "at most", lambda value, bound: value <= bound),
    ("exclusiveMinimum", "more than", lambda value, bound: value > bound),
    ("exclusiveMaximum", "less than", lambda value, bound: value < bound),
)


def number_faults(schema, value):
    for name, words, holds in _BOUNDS:
        bound = schema.get(name)
        if type(bound) in (int, float) and not holds(value, bound):
            yield f"expected {words} {bound}, got {describe_actual(value)}"
    factor = schema.get("multipleOf")
    if type(factor) in (int, float) and factor > 0 and not _is_multiple(value, factor):
        yield f"expected a multiple of {factor}, got {describe_actual(value)}"


def _is_multiple(value, factor):
    if type(value) is int and type(factor) is int:
        return value % factor == 0
    try:
        times = value / factor
        return abs(times - round(times)) < 1e-9 * max(1.0, abs(times))
    except (OverflowError, ValueError):
        return False  # infinite, or nothing at all


def count_faults(schema, count, what, words):
    least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    if type(least) in (int, float) and count < least:
        yield f"expected at least {least} {words}, got {count}"
    if type(most) in (int, float) and count > most:
        yield f"expected at most {most} {words}, got {count}"
