"""Describes a failure: its line, and values of any type."""

import linecache
import sys
from json import dumps

from .shown import cut, shown, text_of

ABSENT = object()
LONGEST_TEXT = 4000
_MOST_VALUE = 20_000
# The transport allows a nesting of one hundred, of which the failure around the value needs some.
_MOST_DEPTH = 90


def describe_failure(message, field, expected, actual, line):
    found = {"message": cut(text_of(message), LONGEST_TEXT)}
    if field is not None:
        found["path"] = cut(text_of(field), 500)
    if line is not None:
        found["line"] = line
    for name, value in (("expected", expected), ("actual", actual)):
        if value is not ABSENT:
            found[name] = sized(value)
    return found


def current_line(filename):
    """The line of the script that runs now."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return None if frame is None else frame.f_lineno


def line_of(filename, line):
    return linecache.getline(filename, line).strip()


def sized(value):
    """The value, or the beginning of its repr where it is large. JSON has no NaN: it becomes a string."""
    if type(value) is float and value - value != 0:
        return repr(value)
    try:
        if len(dumps(value, default=shown)) <= _MOST_VALUE and is_flat(value):
            return value
    except Exception:
        pass
    return shown(value)


def is_flat(value, depth=_MOST_DEPTH):
    """Whether the value is nested no deeper than a report allows."""
    if not isinstance(value, (list, tuple, dict)):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(is_flat(each, depth - 1) for each in inner)
