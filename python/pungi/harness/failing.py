"""What is told of a failure: the line, and values that may be anything."""

import json
import linecache
import sys

from .shown import cut, shown

ABSENT = object()
LONGEST_TEXT = 4000
_MOST_VALUE = 20_000


def describe_failure(message, field, expected, actual, line):
    found = {"message": cut(str(message), LONGEST_TEXT)}
    if field is not None:
        found["path"] = cut(str(field), 500)
    if line is not None:
        found["line"] = line
    for name, value in (("expected", expected), ("actual", actual)):
        if value is not ABSENT:
            found[name] = sized(value)
    return found


def current_line(filename):
    """The line of the script that is being run."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return None if frame is None else frame.f_lineno


def line_of(filename, line):
    return linecache.getline(filename, line).strip()


def sized(value):
    """The value, or the beginning of its repr where it is large. JSON has no NaN: it is told as a text."""
    if type(value) is float and value - value != 0:
        return repr(value)
    try:
        if len(json.dumps(value, default=shown)) <= _MOST_VALUE:
            return value
    except Exception:
        pass
    return shown(value)
