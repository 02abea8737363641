"""Describes what a script raised, in full: the traceback and the line. Bounded. No values: they may be secrets."""

import os

from .endings import leave_out_frames
from .shown import class_name_of, cut_middle

_MAX_MESSAGE = 16 * 1024
_MAX_TRACEBACK = 32 * 1024
_MAX_LINE_TEXT = 1000


def describe_failure(error, script, own_places):
    """Always returns a description, whatever foreign code made of its exception."""
    try:
        return _describe_failure(error, script, own_places)
    except Exception:
        return {"type": type(error).__name__, "message": "", "line": None, "text": None, "traceback": ""}


def _describe_failure(error, script, own_places):
    import traceback

    details = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    leave_out_frames(details, lambda filename: _is_own(filename, own_places))
    line = _line_in_script(error, script)
    if isinstance(error, SyntaxError) and error.filename == script:
        line = error.lineno
    return {
        "type": class_name_of(type(error)),
        "message": cut_middle(str(error), _MAX_MESSAGE),
        "line": line,
        "text": _line_text(script, line),
        "traceback": cut_middle("".join(details.format()), _MAX_TRACEBACK),
        "missingModule": error.name if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str) else None,
        "isMemoryError": isinstance(error, MemoryError),
    }


def _is_own(filename, own_places):
    """Whether the file is the wrapper's (or in its folders, if it is not bundled), or the line that loads it."""
    return filename == "<string>" or any(filename == each or filename.startswith(each + os.sep) for each in own_places)


def _line_in_script(error, script):
    """The line of the innermost frame of the script itself."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == script:
            found = trace
        trace = trace.tb_next
    return None if found is None else found.tb_lineno


def _line_text(script, line):
    if line is None:
        return None
    import linecache

    return linecache.getline(script, line).strip()[:_MAX_LINE_TEXT] or None
