"""Helpers for source text: positions as people count them, and names in nodes and format strings."""

import ast
import contextlib
import string
import sys

# Methods that a class which overrides them has to call on its superclass.
_CALLED_ON_SUPER = {"__reduce__", "__reduce_ex__", "__getattribute__"}


# A visitor takes two frames per level; the compiler accepts at most half as many levels.
_DEEP = 6000


@contextlib.contextmanager
def deep_recursion():
    """Long sums and call chains are deep trees."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def split_lines(source):
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def count_column(lines, line, offset):
    """Python counts bytes from 0; people count characters from 1."""
    if not 0 < line <= len(lines):
        return offset + 1
    return len(lines[line - 1].encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1


def children_without(node, skipped):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield from (part for part in ast.iter_child_nodes(child) if part is not skipped)
        else:
            yield child


def is_called_on_super(node):
    is_above = isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super"
    is_object = isinstance(node.value, ast.Name) and node.value.id == "object"
    return node.attr in _CALLED_ON_SUPER and (is_above or is_object)


def attributes_in_format(text):
    try:
        for _, field, spec, _ in string.Formatter().parse(text):
            for name in (field or "").replace("[", ".").replace("]", "").split(".")[1:]:
                yield name
            if spec:
                yield from attributes_in_format(spec)
    except ValueError:
        return
