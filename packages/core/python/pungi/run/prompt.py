"""What a prompt needs besides running code: whether an input is whole, its statements, and values shown as Python's prompt shows them."""

import ast
import sys

from . import displays

# Kept from before foreign code could replace it.
_print_value = sys.__displayhook__


def read(code, is_typed):
    """Whether the code is whole by the rules of Python's own prompt, and the last lines of its statements.

    `is_typed`: it came line by line, so that an empty line ends a block. Code that does not compile is whole: running it says why.
    """
    import codeop

    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        is_whole = compiler(code, "main.py", "single" if is_typed else "exec") is not None
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
        is_whole = True
    return {"isWhole": is_whole, "ends": [] if is_typed else _ends(code)}


def _ends(code):
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    # A statement that begins on the last line of another belongs to it.
    return [node.end_lineno for node, following in zip(body, [*body[1:], None]) if following is None or following.lineno > node.end_lineno]


def show(value):
    """The display hook of a session at a prompt: prints the value, keeps it as `_`, and shows what a terminal cannot."""
    _print_value(value)
    if value is not None:
        displays.show_value(value)
