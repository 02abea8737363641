"""What expressions are worth in a script that is gone through and not run."""

import ast
import builtins

from . import static_values as values
from .module import dedent, docstring_of
from .static_values import UNKNOWN, Class, EnumClass, EnumMember, Function, Made, Member, Reference

MOST_STEPS = 300_000
BUILTINS = frozenset(dir(builtins))


class Super:
    """What super() gives within a method of `instance`."""

    def __init__(self, instance):
        self.instance = instance


class Partial:
    def __init__(self, callee, args, kwargs):
        self.callee, self.args, self.kwargs = callee, args, kwargs


class Expressions:
    """`calls`: what would be called, in order. Who goes through statements has `enter(function, args, kwargs)`,
    `function()` and `instance()`."""

    def __init__(self):
        self.calls = []
        self.steps = 0

    @property
    def is_tired(self):
        return self.steps > MOST_STEPS

    def value(self, node, scope):
        self.steps += 1
        if self.is_tired:
            return UNKNOWN
        handler = _EXPRESSIONS.get(type(node))
        if handler:
            return handler(self, node, scope)
        # Whatever it gives, there may be calls in it.
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, scope)
        return UNKNOWN

    def _constant(self, node, scope):
        return node.value

    def _name(self, node, scope):
        return scope.get(node.id)

    def _sequence(self, node, scope):
        items = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                items.extend(values.items_of(self.value(each.value, scope)) or [UNKNOWN])
            else:
                items.append(self.value(each, scope))
        return tuple(items) if isinstance(node, ast.Tuple) else items

    def _dict(self, node, scope):
        found = {}
        for key, inner in zip(node.keys, node.values):
            value = self.value(inner, scope)
            name = self.value(key, scope) if key is not None else UNKNOWN
            if isinstance(name, values.PLAIN):
                found[name] = value
            elif key is None and isinstance(value, dict):
                found.update(value)
        return found

    def _text(self, node, scope):
        parts = [self.value(part, scope) for part in node.values]
        if not all(isinstance(part, (str, int, float)) for part in parts):
            return UNKNOWN
        return values.fill("\0" * len(parts), "\0", parts)

    def _formatted(self, node, scope):
        value = self.value(node.value, scope)
        return value if node.conversion == -1 and node.format_spec is None else UNKNOWN

    def _binary(self, node, scope):
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.Add):
            return values.add(left, right)
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            return values.fill(left, "%s", right if isinstance(right, tuple) else [right])
        return values.arithmetic(type(node.op).__name__, left, right)

    def _unary(self, node, scope):
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return not value if isinstance(node.op, ast.Not) and isinstance(value, values.PLAIN) else UNKNOWN

    def _either(self, node, scope):
        """`__doc__ or ""`: the first that counts, if all before it are known."""
        parts = [self.value(part, scope) for part in node.values]
        wanted = isinstance(node.op, ast.Or)
        for part in parts[:-1]:
            if not isinstance(part, (*values.PLAIN, list, dict, tuple)):
                return UNKNOWN
            if bool(part) is wanted:
                return part
        return parts[-1]

    def _subscript(self, node, scope):
        owner = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            bounds = [None if part is None else self.value(part, scope) for part in (node.slice.lower, node.slice.upper)]
            is_plain = isinstance(owner, (str, list, tuple)) and all(part is None or type(part) is int for part in bounds)
            return owner[slice(*bounds)] if is_plain and node.slice.step is None else UNKNOWN
        return values.pick(owner, self.value(node.slice, scope))

    def _walrus(self, node, scope):
        value = self.value(node.value, scope)
        scope.set(node.target.id, value)
        return value

    def _inner(self, node, scope):
        return self.value(node.value, scope)

    def _skip(self, node, scope):
        return UNKNOWN

    def _comprehension(self, node, scope):
        loop = node.generators[0]
        items = values.items_of(self.value(loop.iter, scope))
        if items is None or len(node.generators) > 1 or loop.ifs:
            return UNKNOWN
        inside, found = type(scope)(scope), []
        for item in items:
            if self.is_tired:
                return UNKNOWN
            self.bind(loop.target, item, inside)
            if isinstance(node, ast.DictComp):
                found.append((self.value(node.key, inside), self.value(node.value, inside)))
            else:
                found.append(self.value(node.elt, inside))
        if isinstance(node, ast.DictComp):
            return {key: value for key, value in found if isinstance(key, values.PLAIN)}
        return found

    def _attribute(self, node, scope):
        return self._member(self.value(node.value, scope), node.attr)

    def _member(self, owner, name):
        if isinstance(owner, Reference):
            return Reference(f"{owner.name}.{name}")
        if isinstance(owner, EnumClass):
            own = {"__members__": owner.members, "_member_map_": owner.members, "_member_names_": list(owner.members)}
            return owner.members.get(name) or own.get(name, UNKNOWN)
        if isinstance(owner, EnumMember):
            return {"value": owner.value, "_value_": owner.value, "name": owner.name}.get(name, UNKNOWN)
        if isinstance(owner, Super):
            return Member(owner.instance, name)
        if isinstance(owner, Made):
            if name in owner.attributes:
                return owner.attributes[name]
            method = owner.callee.method(name) if isinstance(owner.callee, Class) else None
            return _bound(method, owner, owner.callee) if method else Member(owner, name)
        if isinstance(owner, Class):
            method = owner.method(name)
            return _bound(method, None, owner) if method else Member(owner, name)
        if isinstance(owner, Function) and name == "__doc__":
            return docstring_of(owner.node) or None
        return UNKNOWN if owner is UNKNOWN else Member(owner, name)

    def _call(self, node, scope):
        callee = self.value(node.func, scope)
        args, kwargs = [], {}
        for arg in node.args:
            value = self.value(arg.value if isinstance(arg, ast.Starred) else arg, scope)
            if isinstance(arg, ast.Starred):
                items = values.items_of(value)
                args.extend([UNKNOWN] if items is None else items)
            else:
                args.append(value)
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            kwargs.update({keyword.arg: value} if keyword.arg else _spread(value))
        return self.called(callee, args, kwargs, node)

    def called(self, callee, args, kwargs, node):
        if callee is UNKNOWN:
            return UNKNOWN
        if isinstance(callee, Reference) and (known := self._call_known(callee.name, args, kwargs)) is not UNKNOWN:
            return known
        if isinstance(callee, Partial):
            return self.called(callee.callee, [*callee.args, *args], callee.kwargs | kwargs, node)
        if isinstance(callee, Member) and isinstance(callee.owner, (str, list, dict)):
            return _ask_constant(callee.owner, callee.name, args)
        made = Made(callee, args, kwargs, node)
        made.within = self.function()
        self.calls.append(made)
        if isinstance(callee, Function):
            return self.enter(callee, args, kwargs)
        if isinstance(callee, Class) and (start := callee.method("__init__")):
            self.enter(Function(start.node, start.scope, bound=made), args, kwargs)
        return made

    def _call_known(self, name, args, kwargs):
        if name == "super":
            instance = self.instance()
            return UNKNOWN if instance is None else Super(instance)
        if name in ("textwrap.dedent", "inspect.cleandoc") and args and isinstance(args[0], str):
            return dedent(args[0])
        if name == "dict" and not args:
            return kwargs
        if name == "functools.partial" and args:
            return Partial(args[0], args[1:], kwargs)
        return values.call_builtin(name, args) if name in BUILTINS and not kwargs else UNKNOWN


def _ask_constant(owner, name, args):
    if isinstance(owner, list) and name in ("append", "extend") and len(args) == 1:
        items = [args[0]] if name == "append" else values.items_of(args[0])
        owner[len(owner) :] = values.joined(owner, items)[len(owner) :]
        return None
    return values.call_method(owner, name, args)


def _bound(method, instance, owner):
    """A method, with what its first parameter stands for."""
    kinds = {decorator.id for decorator in method.node.decorator_list if isinstance(decorator, ast.Name)}
    first = owner if "classmethod" in kinds else None if "staticmethod" in kinds else instance
    return Function(method.node, method.scope, bound=first)


def _spread(value):
    """Of `**value`. What is not known is kept under a name that no keyword has."""
    is_known = isinstance(value, dict) and all(isinstance(key, str) for key in value)
    return value if is_known else {"**": UNKNOWN}


_EXPRESSIONS = {
    ast.Constant: Expressions._constant, ast.Name: Expressions._name, ast.List: Expressions._sequence,
    ast.Tuple: Expressions._sequence, ast.Set: Expressions._sequence, ast.Dict: Expressions._dict,
    ast.JoinedStr: Expressions._text, ast.FormattedValue: Expressions._formatted, ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary, ast.BoolOp: Expressions._either, ast.Subscript: Expressions._subscript,
    ast.NamedExpr: Expressions._walrus, ast.Await: Expressions._inner, ast.Starred: Expressions._inner,
    ast.Lambda: Expressions._skip, ast.ListComp: Expressions._comprehension, ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension, ast.DictComp: Expressions._comprehension,
    ast.Attribute: Expressions._attribute, ast.Call: Expressions._call,
}
