"""Describes what a script raised, in full: the traceback, the line, and the values that stood there. Bounded."""

import os
import sys

from .endings import leave_out_frames
from .shown import class_name_of, cut_middle

_MAX_MESSAGE = 16 * 1024
_MAX_TRACEBACK = 32 * 1024
_MAX_LINE_TEXT = 1000
_MAX_VALUES = 20
_MAX_VALUE_TEXT = 200


def describe_failure(error, script, own_places):
    """Whatever foreign code made of its exception, there is a description of it."""
    try:
        return _describe_failure(error, script, own_places)
    except Exception:
        return {"type": type(error).__name__, "message": "", "line": None, "text": None, "values": {}, "traceback": ""}


def _describe_failure(error, script, own_places):
    import traceback

    details = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    leave_out_frames(details, lambda filename: _is_own(filename, own_places))
    frame, line = _place_in_script(error, script)
    if isinstance(error, SyntaxError) and error.filename == script:
        line = error.lineno
    return {
        "type": class_name_of(type(error)),
        "message": cut_middle(str(error), _MAX_MESSAGE),
        "line": line,
        "text": _line_text(script, line),
        "values": _values_of(frame) if frame is not None else {},
        "traceback": cut_middle("".join(details.format()), _MAX_TRACEBACK),
        "missingModule": error.name if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str) else None,
        "isMemoryError": isinstance(error, MemoryError),
    }


def _is_own(filename, own_places):
    """Files, or folders of them where the wrapper is not bundled; and the line that loads it."""
    return filename == "<string>" or any(filename == each or filename.startswith(each + os.sep) for each in own_places)


def _place_in_script(error, script):
    """The innermost frame of the script itself, and its line."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == script:
            found = trace
        trace = trace.tb_next
    return (None, None) if found is None else (found.tb_frame, found.tb_lineno)


def _line_text(script, line):
    if line is None:
        return None
    import linecache

    return linecache.getline(script, line).strip()[:_MAX_LINE_TEXT] or None


def _values_of(frame):
    """The variables of a function, or of the script itself without what it imports and defines."""
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = _MAX_VALUE_TEXT
    values = {}
    for name, value in list(frame.f_locals.items()):
        if len(values) == _MAX_VALUES:
            break
        if name.startswith("__") or isinstance(value, (type, type(sys), type(_is_own))):
            continue
        try:
            shown = short.repr(value)
        except Exception as error:
            shown = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
        values[name] = shown if len(shown) <= _MAX_VALUE_TEXT else f"{shown[:_MAX_VALUE_TEXT]}…"
    return values
