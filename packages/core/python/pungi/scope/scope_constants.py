"""Folds constant expressions, so that a name assembled from pieces is recognized."""

import ast

_MAX = 10_000
_METHODS = {
    str: {"join", "replace", "lower", "upper", "strip", "lstrip", "rstrip", "format", "encode", "swapcase", "title",
          "removeprefix", "removesuffix", "casefold"},
    bytes: {"decode", "join", "replace"},
}


def fold(node, known=None):
    """Returns the constant str, bytes, int or list of a node, or None if it is not certain. Runs no foreign code."""
    try:
        return _fold(node, known or {})
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError, RecursionError):
        return None


def fold_text(node, known=None):
    value = fold(node, known)
    return value if isinstance(value, str) else None


def _fold(node, known):
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in (str, bytes, int) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.NamedExpr):
        return _fold(node.value, known)
    if isinstance(node, (ast.List, ast.Tuple)):
        return _certain([_fold(item, known) for item in node.elts])
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part, known) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _calculate(node, known)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_fold(node.operand, known)
    if isinstance(node, ast.Subscript):
        return _fold(node.value, known)[_index(node.slice, known)]
    return _call(node, known) if isinstance(node, ast.Call) and not node.keywords else None


def _certain(items):
    return None if any(item is None for item in items) else items


def _part(part, known):
    if isinstance(part, ast.FormattedValue):
        if part.format_spec is not None or part.conversion != -1:
            raise ValueError
        part = part.value
    value = _fold(part, known)
    if not isinstance(value, (str, int)):
        raise ValueError
    return str(value)


def _calculate(node, known):
    left, right = _fold(node.left, known), _fold(node.right, known)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Mult) and isinstance(left, (str, bytes)) and len(left) * right <= _MAX:
        return left * right
    if isinstance(node.op, ast.Mod) and isinstance(left, str) and not any(mark in left for mark in "*0123456789"):
        return left % (tuple(right) if isinstance(right, list) else right)
    return None


def _index(node, known):
    if isinstance(node, ast.Slice):
        return slice(*(None if part is None else _fold(part, known) for part in (node.lower, node.upper, node.step)))
    return _fold(node, known)


def _call(node, known):
    arguments = _certain([_fold(argument, known) for argument in node.args])
    if arguments is None:
        return None
    if isinstance(node.func, ast.Name):
        return {"chr": chr, "str": str}[node.func.id](*arguments)
    if not isinstance(node.func, ast.Attribute):
        return None
    value = _fold(node.func.value, known)
    name = node.func.attr
    if name not in _METHODS.get(type(value), ()) or len(value) + sum(len(str(each)) for each in arguments) > _MAX:
        return None
    # A width in a format could create a string of any length.
    if name == "format" and (":" in value or "!" in value):
        return None
    return getattr(value, name)(*arguments)
