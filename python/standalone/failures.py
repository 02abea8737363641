"""Describes what a script raised, in full: the traceback, the line, and the values that stood there. Bounded."""

import os
import sys

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
    _leave_out_frames(details, own_places)
    frame, line = _place_in_script(error, script)
    if isinstance(error, SyntaxError) and error.filename == script:
        line = error.lineno
    return {
        "type": _qualified_name(type(error)),
        "message": shortened(str(error), _MAX_MESSAGE),
        "line": line,
        "text": _line_text(script, line),
        "values": _values_of(frame) if frame is not None else {},
        "traceback": shortened("".join(details.format()), _MAX_TRACEBACK),
        "missingModule": error.name if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str) else None,
        "isMemoryError": isinstance(error, MemoryError),
    }


def shortened(text, limit):
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _leave_out_frames(details, own_places):
    """The wrapper's own frames, of this exception and of those that led to it."""
    waiting, seen = [details], set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.stack[:] = [frame for frame in each.stack if not _is_own(frame.filename, own_places)]
        waiting += [each.__cause__, each.__context__, *(getattr(each, "exceptions", None) or ())]


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
        if name.startswith("__") or isinstance(value, (type, type(sys), type(shortened))):
            continue
        try:
            shown = short.repr(value)
        except Exception as error:
            shown = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
        values[name] = shown if len(shown) <= _MAX_VALUE_TEXT else f"{shown[:_MAX_VALUE_TEXT]}…"
    return values


def _qualified_name(kind):
    module = getattr(kind, "__module__", None)
    name = getattr(kind, "__qualname__", kind.__name__)
    return str(name if module in ("builtins", "__main__", None) else f"{module}.{name}")[:200]
