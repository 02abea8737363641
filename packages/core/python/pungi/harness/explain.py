"""Explains why a condition does not hold by the values of its parts. It calls nothing again, so it changes nothing."""

import ast

from .dotted import Dotted
from .shown import cut, shown

_MOST_PARTS = 4


class CannotTell(Exception):
    """Only running code could compute the value."""


def explain_condition(test, source, scope):
    """Returns a sentence such as "`total == 3` does not hold: total is 4", and the expected and the actual value of a comparison."""
    text = " ".join((ast.get_source_segment(source, test) or ast.unparse(test)).split())
    parts = {ast.unparse(part): value for part, value in _parts(test, scope)}
    parts_shown = [f"{part} is {shown(value)}" for part, value in list(parts.items())[:_MOST_PARTS]]
    sentence = f"`{cut(text, 500)}` does not hold"
    return f"{sentence}: {', '.join(parts_shown)}" if parts_shown else sentence, _sides(test, scope)


def assertion_at(source, line):
    """The condition of the innermost assert on this line."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert) and node.lineno <= line <= node.end_lineno]
    return found[-1].test if found else None


def _parts(node, scope):
    """The largest parts whose values can be shown, left to right."""
    if isinstance(node, ast.Constant):
        return
    try:
        yield node, _value(node, scope)
    except CannotTell:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _parts(child, scope)


def _sides(test, scope):
    """The sides of `actual == expected`, swapped where the left side is a plain value."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return {}
    left, right = test.left, test.comparators[0]
    actual, expected = (right, left) if _is_literal(left) and not _is_literal(right) else (left, right)
    try:
        return {"expected": _value(expected, scope), "actual": _value(actual, scope)}
    except CannotTell:
        return {}


def _is_literal(node):
    try:
        ast.literal_eval(node)
        return True
    except Exception:
        return False


def _value(node, scope):
    if isinstance(node, ast.Name):
        value = scope.get(node.id, scope)
        if value is scope or callable(value) or type(value) is type(ast):
            raise CannotTell
        return value
    try:
        if isinstance(node, ast.Subscript):
            return _item(_value(node.value, scope), ast.literal_eval(node.slice))
        if isinstance(node, ast.Attribute) and type(inner := _value(node.value, scope)) is Dotted:
            return _item(inner, node.attr)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            return len(_plain(_value(node.args[0], scope)))
        return ast.literal_eval(node)
    except CannotTell:
        raise
    except Exception:
        raise CannotTell from None


def _item(value, key):
    return _plain(value)[key]


def _plain(value):
    """Returns the value if it is plain: others may run any code when they are read."""
    if type(value) not in (dict, list, tuple, str, Dotted):
        raise CannotTell
    return value
