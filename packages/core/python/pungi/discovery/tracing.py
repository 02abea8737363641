"""Goes through a script as its interpreter would, without running anything: what it would call, with what, and in which order.

Both ways of a branch are gone; a loop is gone over what is known, or once. All that cannot be told is UNKNOWN. The number of
steps is bounded, so a script can be as long and as tangled as it likes.
"""

import ast

from . import static_values as values
from .expressions import BUILTINS, Expressions
from .static_values import UNKNOWN, Class, EnumClass, Function, Made, Reference

_DEEPEST_CALL = 25
_ENUMS = ("enum.Enum", "enum.StrEnum", "enum.IntEnum", "enum.Flag", "enum.IntFlag")
_STAR_NAMES = {
    "argparse": ("ArgumentParser", "FileType", "BooleanOptionalAction", "SUPPRESS", "REMAINDER"),
    "pathlib": ("Path",),
    "enum": ("Enum", "StrEnum", "IntEnum", "auto"),
    "click": ("command", "group", "option", "argument", "Choice", "Path", "File", "INT", "FLOAT"),
    "typer": ("Typer", "Option", "Argument", "run"),
}
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class _Scope:
    def __init__(self, parent=None):
        self.names, self.parent, self.outer = {}, parent, {}
        self.returned = UNKNOWN

    def get(self, name):
        scope = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return Reference(name) if name in BUILTINS else UNKNOWN

    def set(self, name, value):
        self.outer.get(name, self).names[name] = value


class Trace(Expressions):
    """`functions`: those that were defined on the way; `is_complete`: all of the script was gone through."""

    def __init__(self, module):
        super().__init__()
        self.functions = []
        self.is_complete = True
        self._active = []
        self._globals = _Scope()
        self._globals.names.update({"__doc__": module.description or None, "__name__": "__main__"})
        self._block(module.tree.body, self._globals)

    def get(self, name):
        """What a name at the top of the script means in the end."""
        return self._globals.get(name)

    def function(self):
        """Which one is gone through."""
        return self._active[-1][0] if self._active else None

    def instance(self):
        """Whose method is gone through."""
        return self._active[-1][1] if self._active else None

    def enter(self, function, args, kwargs):
        """Goes through a function; what it would give back."""
        running = [active for active, _ in self._active]
        if len(running) >= _DEEPEST_CALL or running.count(function.node) > 1:
            return UNKNOWN
        scope = _Scope(function.scope)
        self._bind_parameters(function, args if function.bound is None else [function.bound, *args], kwargs, scope)
        self._active.append((function.node, function.bound))
        try:
            self._block(function.node.body, scope)
        finally:
            self._active.pop()
        return scope.returned

    def _block(self, statements, scope):
        for statement in statements:
            self.steps += 1
            if self.is_tired:
                self.is_complete = False
                return
            try:
                self._statement(statement, scope)
            except RecursionError:
                self.is_complete = False
            if isinstance(statement, _LEAVING):
                return

    def _statement(self, node, scope):
        handler = _STATEMENTS.get(type(node))
        if handler:
            handler(self, node, scope)
        elif isinstance(node, ast.stmt) and isinstance(getattr(node, "value", None), ast.expr):
            self.value(node.value, scope)

    def _define(self, node, scope):
        function = Function(node, scope, [self.value(decorator, scope) for decorator in node.decorator_list])
        self.functions.append(function)
        scope.set(node.name, function)

    def _define_class(self, node, scope):
        bases = [self.value(base, scope) for base in node.bases]
        if any(isinstance(base, Reference) and base.name in _ENUMS for base in bases):
            kinds = {base.name for base in bases if isinstance(base, Reference)}
            scope.set(node.name, EnumClass(node.name, self._members(node, scope, bool(kinds & {"enum.StrEnum"}))))
            return
        made = Class(node, bases, scope)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                made.methods[statement.name] = Function(statement, scope)
        scope.set(node.name, made)

    def _members(self, node, scope, are_texts):
        members = {}
        for statement in node.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(target, ast.Name):
                continue
            name, value = target.id, self.value(statement.value, scope)
            if isinstance(value, Made) and value.is_of("enum.auto"):
                value = name.lower() if are_texts else len(members) + 1
            if not name.startswith("_"):
                members[name] = value
        return members

    def _import(self, node, scope):
        for alias in node.names:
            if isinstance(node, ast.Import):
                bound = alias.asname or alias.name.partition(".")[0]
                scope.set(bound, Reference(alias.name if alias.asname else bound))
            elif alias.name == "*":
                for name in _STAR_NAMES.get(node.module, ()):
                    scope.set(name, Reference(f"{node.module}.{name}"))
            else:
                module = "." * node.level + (node.module or "")
                scope.set(alias.asname or alias.name, Reference(f"{module}.{alias.name}"))

    def _assign(self, node, scope):
        value = self.value(node.value, scope) if node.value is not None else UNKNOWN
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self.bind(target, value, scope)

    def _augment(self, node, scope):
        value = self.value(node.value, scope)
        before = self.value(node.target, scope)
        after = values.add(before, value) if isinstance(node.op, ast.Add) else UNKNOWN
        self.bind(node.target, after, scope)

    def bind(self, target, value, scope):
        if isinstance(target, ast.Name):
            scope.set(target.id, value)
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value, scope)
            if isinstance(owner, Made):
                owner.attributes[target.attr] = value
        elif isinstance(target, ast.Subscript):
            owner, key = self.value(target.value, scope), self.value(target.slice, scope)
            if isinstance(owner, dict) and isinstance(key, values.PLAIN):
                owner[key] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = values.items_of(value)
            is_fit = items is not None and len(items) == len(target.elts)
            for each, item in zip(target.elts, items if is_fit else [UNKNOWN] * len(target.elts)):
                self.bind(each.value if isinstance(each, ast.Starred) else each, item, scope)

    def _loop(self, node, scope):
        items = values.items_of(self.value(node.iter, scope))
        for item in [UNKNOWN] if items is None else items:
            if self.is_tired:
                break
            self.bind(node.target, item, scope)
            self._block(node.body, scope)
        self._block(node.orelse, scope)

    def _with(self, node, scope):
        for item in node.items:
            value = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, scope)
        self._block(node.body, scope)

    def _branches(self, node, scope):
        if isinstance(getattr(node, "test", None), ast.expr):
            self.value(node.test, scope)
        if isinstance(getattr(node, "subject", None), ast.expr):
            self.value(node.subject, scope)
        for block in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self._block(getattr(block, "body", ()), scope)
        self._block(getattr(node, "orelse", ()), scope)
        self._block(getattr(node, "finalbody", ()), scope)

    def _return(self, node, scope):
        value = self.value(node.value, scope) if node.value is not None else None
        if scope.returned is UNKNOWN or scope.returned is None:
            scope.returned = value

    def _share(self, node, scope):
        for name in node.names:
            outer = self._globals if isinstance(node, ast.Global) else scope.parent
            scope.outer[name] = outer or self._globals

    def _bind_parameters(self, function, args, kwargs, scope):
        about = function.node.args
        names = [*about.posonlyargs, *about.args]
        defaults = [None] * (len(names) - len(about.defaults)) + about.defaults
        for parameter, default in [*zip(names, defaults), *zip(about.kwonlyargs, about.kw_defaults)]:
            scope.names[parameter.arg] = UNKNOWN if default is None else self.value(default, function.scope)
        scope.names.update(zip([each.arg for each in names], args))
        known = {each.arg for each in [*names, *about.kwonlyargs]}
        scope.names.update({name: value for name, value in kwargs.items() if name in known})
        if about.vararg:
            scope.names[about.vararg.arg] = list(args[len(names) :])
        if about.kwarg:
            scope.names[about.kwarg.arg] = {name: value for name, value in kwargs.items() if name not in known}


_STATEMENTS = {
    ast.FunctionDef: Trace._define, ast.AsyncFunctionDef: Trace._define, ast.ClassDef: Trace._define_class,
    ast.Import: Trace._import, ast.ImportFrom: Trace._import, ast.Assign: Trace._assign, ast.AnnAssign: Trace._assign,
    ast.AugAssign: Trace._augment, ast.For: Trace._loop, ast.AsyncFor: Trace._loop, ast.With: Trace._with,
    ast.AsyncWith: Trace._with, ast.If: Trace._branches, ast.While: Trace._branches, ast.Try: Trace._branches,
    ast.Match: Trace._branches, ast.Return: Trace._return, ast.Global: Trace._share, ast.Nonlocal: Trace._share,
    getattr(ast, "TryStar", ast.Try): Trace._branches,
}
