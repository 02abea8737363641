"""Describes a script that did not finish: what it raised, and the place."""

import os
import traceback

from .explain import assertion_at, explain_condition
from .failing import LONGEST_TEXT, line_of, sized
from .shown import cut, text_of

_LONGEST_NAME = 200
_OWN_FOLDER = os.path.dirname(__file__)


def describe_exit(error):
    """Describes the exit of a script; None if the script passes with it."""
    if error.code is None or error.code is False or error.code == 0:
        return None
    if isinstance(error.code, int):
        # A shell takes 256 for 0, but a script that exits with its number of failures does not mean that.
        return {"stage": "exit", "status": error.code & 0xFF or 1, "message": ""}
    return {"stage": "exit", "status": 1, "message": cut(text_of(error.code), LONGEST_TEXT)}


def is_noted(error, job, failures):
    """Whether an assertion only repeats what its own `expect` has noted, as in `assert expect(...)`."""
    if type(error) is not AssertionError or error.args:
        return False
    lines = [line for each, line in traceback.walk_tb(error.__traceback__) if each.f_code.co_filename == job["filename"]]
    test = assertion_at(job["source"], lines[-1]) if lines else None
    return test is not None and any(test.lineno <= each.get("line", 0) <= test.end_lineno for each in failures)


def describe_error(error, job, stage):
    filename = job["filename"]
    own = [(each, line) for each, line in traceback.walk_tb(error.__traceback__) if each.f_code.co_filename == filename]
    is_syntax = stage == "syntax" and isinstance(error, SyntaxError)
    line = error.lineno if is_syntax else own[-1][1] if own else None
    about = {
        "stage": stage,
        "type": cut(type(error).__name__, _LONGEST_NAME),
        "message": cut(text_of(error.msg) if is_syntax else _message(error), LONGEST_TEXT),
        "line": line,
        "column": error.offset if is_syntax and type(error.offset) is int else None,
        "text": cut(line_of(filename, line), 500) if line else None,
        "traceback": _traceback(error),
        "module": cut(error.name, _LONGEST_NAME) if isinstance(error, ImportError) and type(error.name) is str else None,
        "isMissing": isinstance(error, ModuleNotFoundError),
        "errno": error.errno if isinstance(error, OSError) and type(error.errno) is int and abs(error.errno) < 1 << 31 else None,
    }
    if type(error) is AssertionError and not error.args and own:
        frame, at = own[-1]
        about |= _explained(job["source"], at, {**frame.f_globals, **frame.f_locals})
    return about


def _message(error):
    try:
        return str(error)
    except BaseException:
        return ""  # a class of the script may run any code here


def _explained(source, line, scope):
    try:
        test = assertion_at(source, line)
        sentence, sides = explain_condition(test, source, scope)
        return {"message": sentence, **{name: sized(value) for name, value in sides.items()}}
    except Exception:
        return {}


def _traceback(error):
    try:
        trace = traceback.TracebackException.from_exception(error, compact=True)
        # Frames of this package mean nothing to the author of the script.
        trace.stack[:] = [frame for frame in trace.stack if not frame.filename.startswith(_OWN_FOLDER)]
        text = "".join(trace.format())
        return text if len(text) <= 16_000 else f"{text[:8000]}\n…\n{text[-8000:]}"
    except BaseException:
        return ""
