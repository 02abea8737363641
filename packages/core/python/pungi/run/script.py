"""The script of a run: its file, its code, and the module that it runs in, as `python FILE` has them."""

import _imp
import ast
import builtins
import functools
import importlib.util
import io
import marshal
import os
import tokenize
import types
from importlib.machinery import SourceFileLoader

from . import displays, frames, kept_loop, report

# The version of the code that `dump` keeps.
FORMAT = 3
# The compatibility of that code: the interpreter, and how this module compiles a script.
MAGIC = f"{importlib.util.MAGIC_NUMBER.hex()}-{FORMAT}"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Stands in compiled code for the Ending of the run.
_MARK = ("pungi", "ending")
# The flag of code that awaits, as in the module inspect.
_CO_COROUTINE = 0x80
_SETTINGS = (b"%matplotlib", b"%config")
# Not a line of the script: a tracer of the script does not see the code around it.
_NOWHERE = {"lineno": -1, "end_lineno": -1, "col_offset": -1, "end_col_offset": -1}
# The nodes that every script gets: made once, before the processes that compile.
_ENDING = ast.withitem(ast.Constant(_MARK, **_NOWHERE))
_VALUE = ast.Attribute(_ENDING.context_expr, "value", ast.Store(), **_NOWHERE)


class Ending:
    """The end of a script: a description of its last expression's value, or what describing it raised; and the exception that
    ended it."""

    def __init__(self, has_value=True, is_kept=False):
        """`is_kept`: later calls of the session find the value as `_`."""
        self._has_value, self._is_kept = has_value, is_kept
        self.about, self.error = {}, None

    @property
    def value(self):
        return self.about.get("value")

    @value.setter
    def value(self, value):
        """Set by the script's own code. Plain Python shows no value, so a `__repr__` that raises does not end the run."""
        if self._has_value and value is not None:
            try:
                self.about = {"value": report.describe_value(value)}
            except BaseException as error:
                self.about = {"valueError": report.name_exception(error)}
            displays.show_value(value)
            if self._is_kept:
                builtins._ = value

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        self.error = error
        return True


def write(path, source):
    """Writes the script to the path that `__file__` names. Returns its bytes."""
    data = encode(source)
    file = os.open(path, _FLAGS, 0o666)
    try:
        frames.write_all(file, data)
    finally:
        os.close(file)
    return data


def encode(source):
    """Encodes the source as its first lines declare, so that a reader of the file gets the same text."""
    data = source.encode("utf-8", "surrogatepass")
    if b"coding" in data:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            return data if encoding.startswith("utf-8") else source.encode(encoding)
        except (SyntaxError, UnicodeError):
            pass  # the compiler will report the problem
    return data


def compile_source(source, path, is_interactive=False):
    """Code that leaves its value and its exception to an Ending, see `function_of`. It may await outside of functions.
    `is_interactive`: every expression that is a statement shows its value instead, as at Python's prompt.

    They are caught inside the script's own code, because there is no frame below it. Code that is nested as deep as the
    compiler allows has no room for that: it stays as it is.
    """
    source = encode(source) if isinstance(source, str) else source
    try:
        tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        mode, tree = ("single", _with_errors(tree)) if is_interactive else ("exec", _with_ending(tree, source))
        try:
            return compile(tree, path, mode, dont_inherit=True)
        except SyntaxError:
            pass
        return _with_loop(compile(tree, path, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True))
    except SyntaxError as error:
        rest = _without_setting(source, error)
        if rest is not None:
            return compile_source(rest, path, is_interactive)
    except RecursionError:
        pass
    return compile(source, path, "exec", dont_inherit=True)


def _without_setting(source, error):
    """The source without the line of the error, if that is a setting of a notebook, which is not needed here; None if it is not."""
    lines = source.splitlines(keepends=True)
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else b""
    if not line.lstrip().startswith(_SETTINGS):
        return None
    lines[error.lineno - 1] = line[: len(line) - len(line.lstrip())] + b"pass\n"
    return b"".join(lines)


def _with_ending(tree, source):
    ahead = _count_ahead(tree.body)
    body, last = tree.body[ahead:], tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not _is_silenced(last, source):
        body[-1:] = [ast.Assign(
            [_VALUE], last.value,
            lineno=last.lineno, end_lineno=last.end_lineno, col_offset=last.col_offset, end_col_offset=last.end_col_offset,
        )]
    return ast.Module([*tree.body[:ahead], _around(body)], [])


def _is_silenced(statement, source):
    """Whether a semicolon follows it: in notebooks, such a value is not shown."""
    if b";" not in source:
        return False
    return source.splitlines()[statement.end_lineno - 1][statement.end_col_offset :].lstrip().startswith(b";")


def _with_errors(tree):
    ahead = _count_ahead(tree.body, has_docstring=False)
    return ast.Interactive([*tree.body[:ahead], _around(tree.body[ahead:])])


def _around(body):
    return ast.With([_ENDING], body or [ast.Pass(**_NOWHERE)], **_NOWHERE)


def _count_ahead(body, has_docstring=True):
    """The docstring and the future statements come before everything else."""
    count = 0
    for statement in body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_docstring = has_docstring and count == 0 and is_text and isinstance(statement.value.value, str)
        if not is_docstring and not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        count += 1
    return count


def dump(code):
    return marshal.dumps(code)


def load(bytecode, path):
    """The code that `dump` writes, for a script at this path."""
    code = marshal.loads(bytecode)
    _imp._fix_co_filename(code, path)
    return _with_loop(code)


def _with_loop(code):
    """Imports what runs code that awaits, before the rules of a profile hold."""
    global _asyncio
    if code.co_flags & _CO_COROUTINE:
        import asyncio as _asyncio
    return code


def function_of(code, scope, ending, in_session=False):
    """Runs the code as that of a module, and raises nothing."""
    if _MARK not in code.co_consts:
        return lambda: _run_below(code, scope, ending)
    constants = tuple(ending if each == _MARK else each for each in code.co_consts)
    function = types.FunctionType(code.replace(co_consts=constants), scope)
    if not code.co_flags & _CO_COROUTINE:
        return function
    return functools.partial(_run_awaiting, function, ending, kept_loop.run if in_session else _asyncio.run)


def _run_below(code, scope, ending):
    with ending:
        exec(code, scope)


def _run_awaiting(function, ending, run):
    """Code that awaits is the main task of an event loop. The loop can end it: what another task raised, or an interrupt."""

    async def main():
        await function()
        if isinstance(ending.error, _asyncio.CancelledError):
            raise ending.error  # for an interrupt, the loop raises KeyboardInterrupt in its place

    outside = Ending()
    with outside:
        run(main())
    ending.error = outside.error or ending.error


def make_main(path):
    """The module __main__, as it is when a script begins."""
    module = types.ModuleType("__main__")
    # The builtins as a module, as in every script; exec would put in the dictionary.
    module.__dict__.update(
        __loader__=SourceFileLoader("__main__", path), __annotations__={}, __builtins__=builtins, __file__=path, __cached__=None
    )
    return module
