"""Type variables: what T stands for inside of Box[int]."""

import ast
import contextlib
import re

from .names import Inside, outside

_MAX_PARAMETERS = 20
_MAX_DEPTH = 20
_MAX_TEXT = 200


class _Scope(dict):
    """Name to (syntax, the scope in which that syntax was written)."""


class Variables:
    def __init__(self, names):
        self._names = names
        self._scope = _Scope()

    def binds(self, name):
        return name in self._scope

    @contextlib.contextmanager
    def outer(self, name):
        """Inside of Box[T] the T may be the T of somebody else."""
        before = self._scope
        node, self._scope = before[name]
        try:
            yield node
        finally:
            self._scope = before

    @contextlib.contextmanager
    def bound(self, parameters, arguments):
        before = self._scope
        values = [*arguments, *([None] * len(parameters))]
        self._scope = _Scope({
            name: (value if value is not None else bound, before) for (name, bound), value in zip(parameters, values)
        })
        try:
            yield
        finally:
            self._scope = before

    def replaced(self, text):
        """The text of a type with the variables' own types in it."""
        return _replaced(text, self._scope, 0)

    def parameters_of(self, value, type_parameters):
        """(name, bound) of each variable, in their order."""
        if type_parameters:
            return [(each.name, getattr(each, "bound", None) or outside("builtins.object")) for each in type_parameters]
        found = {}
        for node in _in_order(value):
            maker = self._maker(node)
            if maker is not None:
                found.setdefault(node.id, _bound_of(maker))
        return list(found.items())[:_MAX_PARAMETERS]

    def _maker(self, node):
        """The TypeVar(…) call behind a name."""
        meaning = self._names.get(node.id) if isinstance(node, ast.Name) else None
        node = meaning.node if isinstance(meaning, Inside) else None
        return node if isinstance(node, ast.Call) and self._names.outside_name(node) == "typing.TypeVar" else None

    def read_unbound(self, reader, call):
        """One that nobody gives a type is its bound, its choices, or anything."""
        if len(call.args) > 1:
            return reader.union(call.args[1:])
        bound = next((each.value for each in call.keywords if each.arg == "bound"), None)
        return reader.read(bound) if bound is not None else {}


def _replaced(text, scope, depth):
    for name, (node, outer) in scope.items() if depth < _MAX_DEPTH else ():
        inner = _replaced(ast.unparse(node), outer, depth + 1)
        text = re.sub(rf"\b{re.escape(name)}\b", lambda _, inner=inner: inner, text)
    return text[:_MAX_TEXT]


def _bound_of(call):
    if len(call.args) > 1:
        return ast.Subscript(value=outside("typing.Union"), slice=ast.Tuple(elts=call.args[1:], ctx=ast.Load()), ctx=ast.Load())
    return next((each.value for each in call.keywords if each.arg == "bound"), outside("builtins.object"))


def _in_order(value):
    """Names as they are read; ast.walk goes level by level, which turns dict[list[T], U] round."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))
