"""Describes the value or the exception of a run, with bounds on every size."""

import json
import linecache
import opcode
import os
import sys
from _thread import get_ident

from ..calls.shown import class_name_of, cut_middle

_MAX_VALUE = 64 * 1024
_MAX_MESSAGE = 16 * 1024
_MAX_TRACEBACK = 32 * 1024
_MAX_LINE = 1000
# The server accepts no deeper JSON: not every reader of it could.
_MAX_DEPTH = 100
_OWN_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_MAX_NAME = 200
_RAISE = opcode.opmap["RAISE_VARARGS"]
# The interpreter's own printer: it suggests names, and shows source lines and carets in the usual form.
_print_exception = sys.__excepthook__
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode


def encode_json(data):
    """JSON as UTF-8. A lone surrogate becomes bytes that the other end reads as U+FFFD."""
    return _encode(data).encode("utf-8", "surrogatepass")


def describe_value(value):
    """The value as a notebook shows it, and as JSON where it is plain data."""
    kind = type(value)
    shown = repr(value[:_MAX_VALUE] if kind in (str, bytes) else value)
    about = {"type": class_name_of(kind), "repr": cut_middle(shown, _MAX_VALUE)}
    if kind in (bool, int, float, str, list, dict) and len(shown) <= _MAX_VALUE:
        try:
            _encode(value)  # first: it finds what holds itself
            if _is_flat(value, _MAX_DEPTH) and _is_exact(value):
                about["json"] = value
        except (TypeError, ValueError, RecursionError):
            pass
    return about


def _is_flat(value, depth):
    """Whether its lists are nested at most so deep."""
    if not isinstance(value, (list, tuple, dict)):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_flat(each, depth - 1) for each in inner)


def _is_exact(value):
    """Whether every reader of JSON gets the same numbers: beyond 2**53 many round."""
    if isinstance(value, dict):
        return all(map(_is_exact, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_exact, value))
    return not isinstance(value, int) or abs(value) <= 1 << 53


def describe_exception(error, path, has_folder=False):
    """Always returns a description, whatever foreign code made of its exception. `path`: the file of the script. `has_folder`: whether
    all files next to it are its own."""
    try:
        return _describe(error, path, has_folder)
    except Exception:
        return _BARE | {"type": class_name_of(type(error)), "isMemoryError": isinstance(error, MemoryError)}


_BARE = {
    "type": "", "message": "", "line": None, "column": None, "text": None, "traceback": "", "missingModule": None,
    "isMemoryError": False, "isRaised": False, "errno": None,
}


def _describe(error, path, has_folder):
    is_raised = _is_raised(error)
    leave_out_own_frames(error)
    line, column, source = _place(error, path)
    return {
        "type": class_name_of(type(error)),
        "message": cut_middle(error.msg if _is_syntax(error) else _text_of(error), _MAX_MESSAGE),
        "line": line,
        "column": column,
        "text": source,
        "traceback": cut_middle(_shortened(_printed(error), path, has_folder), _MAX_TRACEBACK),
        "missingModule": _missing_module(error),
        "isMemoryError": isinstance(error, MemoryError),
        "isRaised": is_raised,
        "errno": error.errno if isinstance(error, OSError) and isinstance(error.errno, int) else None,
    }


def _shortened(traceback, path, has_folder):
    """The script, and those of earlier calls of its session, have no folder there."""
    folder, name = os.path.split(path)
    begin = f'File "{os.path.join(folder, "")}'
    if has_folder:
        return traceback.replace(begin, 'File "')
    first, *rest = traceback.split(begin)
    of_session = _first_name(name)
    is_script = (_first_name(each.partition('"')[0]) == of_session for each in rest)
    return first + "".join(('File "' if is_short else begin) + each for each, is_short in zip(rest, is_script))


def _first_name(name):
    """The name of the first script of a session: main.py for main_2.py."""
    stem, extension = os.path.splitext(name)
    first, _, number = stem.rpartition("_")
    return f"{first if number.isdecimal() else stem}{extension}"


def name_exception(error):
    """Its class and the beginning of its text."""
    first, *_ = _text_of(error).splitlines() or [""]
    return f"{class_name_of(type(error))}: {first[:_MAX_NAME]}".removesuffix(": ")


def _text_of(error):
    try:
        return str(error)
    except BaseException:
        return "<exception str() failed>"


def _printed(error):
    """The traceback as the interpreter prints it."""
    stream = sys.stderr = _Capture(sys.stderr)
    try:
        _print_exception(type(error), error, error.__traceback__)
    finally:
        sys.stderr = stream.behind
    return "".join(stream.parts)


class _Capture:
    """Replaces sys.stderr while this thread prints; output of other threads goes to the real one."""

    def __init__(self, behind):
        self.behind, self.parts = behind, []
        self._thread = get_ident()

    def write(self, text):
        if get_ident() == self._thread:
            self.parts.append(text)
        else:
            self.behind.write(text)

    def flush(self):
        pass


def _is_raised(error):
    """Whether a Python statement or the parser, when its stack is exhausted, raised it: not the system."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or isinstance(error, MemoryError) and str(error).startswith("Parser stack overflowed"):
        return True
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def leave_out_own_frames(error):
    """Drops the frames of this package: the guard of a profile is between a script and its imports, also in causes of an exception."""
    waiting, seen = [error], set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, BaseException) and id(each) not in seen:
            seen.add(id(each))
            each.__traceback__ = _foreign(each.__traceback__)
            members = getattr(each, "exceptions", ())
            waiting += [each.__cause__, each.__context__, *(members if isinstance(members, tuple) else ())]


def _foreign(trace):
    while trace is not None and _is_own(trace):
        trace = trace.tb_next
    last = trace
    while last is not None and last.tb_next is not None:
        if _is_own(last.tb_next):
            last.tb_next = last.tb_next.tb_next
        else:
            last = last.tb_next
    return trace


def _is_own(trace):
    return trace.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER)


def _place(error, path):
    """Line, column and text in the submitted code: of the syntax error, or of its innermost frame."""
    if _is_syntax(error) and error.filename in (path, os.path.basename(path)):
        text = error.text.rstrip("\n")[:_MAX_LINE] if isinstance(error.text, str) else None
        return _whole(error.lineno), _whole(error.offset), text
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace
        trace = trace.tb_next
    if found is None:
        return None, None, None
    text = linecache.getline(path, found.tb_lineno).rstrip("\n")[:_MAX_LINE]
    return found.tb_lineno, _column(found, text), text or None


def _whole(number):
    return number if type(number) is int and 0 <= number < 1 << 31 else None


def _is_syntax(error):
    """The text of a SyntaxError repeats the place, which is reported separately."""
    return isinstance(error, SyntaxError) and isinstance(error.msg, str)


def _column(trace, text):
    code = trace.tb_frame.f_code
    if not hasattr(code, "co_positions"):
        return None
    positions = list(code.co_positions())
    column = positions[trace.tb_lasti // 2][2] if trace.tb_lasti // 2 < len(positions) else None
    # Python counts bytes; people count characters.
    return None if column is None else len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")) + 1


def _missing_module(error):
    if type(error) is ImportError and error.name is None:  # a package names what it needs in its own message
        error = error.__cause__ or error.__context__
    is_missing = isinstance(error, ModuleNotFoundError) and isinstance(error.name, str)
    return cut_middle(error.name, _MAX_NAME) if is_missing else None
