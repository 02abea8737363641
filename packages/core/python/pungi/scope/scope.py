"""Checks a script against its profile's scope by its syntax tree, before it runs.

This is scope, not security: it keeps a script to the purpose of its profile and reports line and reason. The kernel
sandbox is the boundary. What static analysis cannot decide (a name computed at run time) is left to scope_guard. A
name that the script binds belongs to the script. Comments and strings are ignored, except strings that are certainly
used as code or as an attribute: exec("…"), df.query("…"), "{0.x}".format(…), getattr(…, "…").
"""

import ast
import builtins

from . import optional_imports
from . import scope_bindings as bindings
from .scope_constants import fold, fold_text
from .scope_members import MemberCheck
from .scope_reading import attributes_in_format, children_without, count_column, deep_recursion, is_called_on_super, split_lines
from .scope_rules import INTROSPECTION, Rules

_BUILTIN_NAMES = frozenset(dir(builtins)) | {"help", "license", "copyright", "credits", "exit", "quit"}
_SPECIAL_NAMES = {"__builtins__", "__loader__", "__spec__"}
_ATTRIBUTE_FUNCTIONS = {"getattr", "setattr", "delattr", "hasattr"}
# Maps a name to the position of the argument that names a module.
_LOADERS = {
    "importlib.import_module": 0, "importlib.__import__": 0, "importlib.util.find_spec": 0, "importlib.find_loader": 0,
    "builtins.__import__": 0, "runpy.run_module": 0, "pkgutil.resolve_name": 0, "pkgutil.get_loader": 0,
    "pkgutil.find_loader": 0, "pydoc.locate": 0, "importlib.metadata.EntryPoint": 1,
}
_RUNS_TEXT = {"exec", "eval", "compile"}
_MAX_NESTING = 3


def check(source, filename, rules):
    """Returns each violation as {"line", "column", "rule", "what", "message"}, ordered by position."""
    return examine(source, filename, rules)[0]


def examine(source, filename, rules):
    """Returns the violations, and the paths into modules that scope_guard checks once the modules are loaded."""
    rules = rules if isinstance(rules, Rules) else Rules(rules)
    if rules.is_empty:
        return [], []
    try:
        tree = source if isinstance(source, ast.AST) else compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return [], []  # the run reports it
    try:
        with deep_recursion():
            walk = _Check(tree, rules, 0)
            walk.visit(tree)
    except (MemoryError, RecursionError):
        # The code might run, but code that cannot be analysed is not in scope.
        reason = rules.describe_nesting()
        return [{"line": None, "column": None, "rule": "introspection", "what": "nesting", "message": reason}], []
    lines = [] if isinstance(source, ast.AST) else split_lines(source)
    found = {}
    for node, rule, what, message in walk.found:
        place = (node.lineno, count_column(lines, node.lineno, node.col_offset))
        # Each position is reported once, with the first and most exact reason. An import statement is reported for
        # each name.
        key = (*place, what) if isinstance(node, (ast.Import, ast.ImportFrom)) else place
        found.setdefault(key, {"line": place[0], "column": place[1], "rule": rule, "what": what, "message": message})
    return sorted(found.values(), key=lambda each: (each["line"], each["column"])), walk.members.paths


class _Check(ast.NodeVisitor):
    def __init__(self, tree, rules, nesting):
        self.rules = rules
        self.found = []
        self._nesting = nesting
        values = bindings.assigned_values(tree)
        self._known = bindings.constants_by_name(values)
        self.members = MemberCheck(bindings.modules_by_name(tree, rules), values, self._known, rules)
        self._module_bound = bindings.bound_for_certain(getattr(tree, "body", []) if isinstance(tree, ast.Module) else [])
        self._scopes = []
        # Import statements for which a denied module counts as missing instead of being refused.
        self._guarded = set()

    def _refuse(self, node, rule, what, message):
        self.found.append((node, rule, what, message))

    def _refuse_introspection(self, node, name):
        if self.rules.forbids_introspection:
            self._refuse(node, "introspection", name, self.rules.describe_introspection(name))

    def _check_import(self, node, name):
        if reason := self.rules.refuses_import(name):
            self._refuse(node, "import", name, reason)
            return False
        return True

    # Imports

    def visit_Try(self, node):
        self._guarded |= optional_imports.imports_in(node)
        self.generic_visit(node)

    visit_TryStar = visit_Try

    def visit_Import(self, node):
        for alias in node.names:
            if node not in self._guarded:
                self._check_import(node, alias.name)
            self._check_import_name(node, alias)

    def visit_ImportFrom(self, node):
        if node.level:
            if self.rules.allowed is not None:
                self._check_import(node, "." * node.level + (node.module or ""))
            return
        if node in self._guarded and self.rules.refuses_import(node.module):
            return
        if not self._check_import(node, node.module):
            return
        for alias in node.names:
            self._check_import_name(node, alias)
            if alias.name == "*" and node.module == "builtins" and self.rules.builtins:
                self._refuse(node, "builtin", "*", f'the profile "{self.rules.profile}" blocks some of what builtins has')
            elif alias.name in INTROSPECTION:
                self._refuse_introspection(node, alias.name)
            elif alias.name != "*":
                self._report_member(node, f"{node.module}.{alias.name}")

    def _check_import_name(self, node, alias):
        if alias.asname in _SPECIAL_NAMES:
            self._refuse_introspection(node, alias.asname)

    def _report_member(self, node, path):
        if refusal := self.members.judge(node, path):
            self._refuse(node, *refusal)

    # Names

    def visit_Name(self, node):
        if node.id in _SPECIAL_NAMES:
            self._refuse_introspection(node, node.id)
        elif isinstance(node.ctx, ast.Load) and node.id in _BUILTIN_NAMES and not self._is_own(node):
            if reason := self.rules.refuses_builtin(node.id):
                self._refuse(node, "builtin", node.id, reason)
        self._visit_member(node)

    def _is_own(self, node):
        place = (node.lineno, node.col_offset)
        is_innermost = is_now = True
        for scope, bound in reversed(self._scopes):
            if isinstance(scope, ast.ClassDef):
                # Only the statements of a class see its names.
                if is_innermost and node.id in bound and bound[node.id] <= place:
                    return True
            elif node.id in bound:
                return True
            else:
                is_now = is_now and not isinstance(scope, bindings.FUNCTIONS)
            is_innermost = False
        bound_at = self._module_bound.get(node.id)
        # A function runs later; if it runs before the name is bound, the guard checks it.
        return bound_at is not None and (not is_now or bound_at <= place)

    def _visit_scope(self, node, outside, inside, bound):
        for part in outside:
            self.visit(part)
        self._scopes.append((node, bound))
        for part in inside:
            self.visit(part)
        self._scopes.pop()

    def visit_FunctionDef(self, node):
        """Visits defaults, decorators and annotations in the enclosing scope."""
        inside = node.body if isinstance(node.body, list) else [node.body]
        outside = [child for child in ast.iter_child_nodes(node) if child not in inside]
        self._visit_scope(node, outside, inside, bindings.bound_in(node))

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node):
        outside = [child for child in ast.iter_child_nodes(node) if child not in node.body]
        self._visit_scope(node, outside, node.body, bindings.bound_for_certain(node.body))

    def visit_ListComp(self, node):
        first = node.generators[0].iter  # belongs to the enclosing scope
        self._visit_scope(node, [first], children_without(node, first), bindings.bound_in(node))

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    # Attributes and members

    def visit_Attribute(self, node):
        self._visit_member(node)
        if node.attr in INTROSPECTION and not is_called_on_super(node):
            self._refuse_introspection(node, node.attr)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        self._visit_member(node)
        self.generic_visit(node)

    def _visit_member(self, node):
        if path := self.members.path_of(node):
            self._report_member(node, path)

    def visit_MatchClass(self, node):
        for name in node.kwd_attrs:
            if name in INTROSPECTION:
                self._refuse_introspection(node, name)
        self.generic_visit(node)

    # Calls

    def visit_Call(self, node):
        self._visit_member(node)
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
        path = self.members.path_of(node.func)
        if called == "mro" and isinstance(node.func, ast.Attribute) and not node.args:
            self._refuse_introspection(node, "mro")
        if called in _ATTRIBUTE_FUNCTIONS or called in ("attrgetter", "methodcaller", "__getattribute__"):
            self._check_attribute_texts(node)
        if path in _LOADERS or called == "__import__":
            self._check_loaded(node, _LOADERS.get(path, 0))
        if called in ("format", "format_map", "vformat"):
            self._check_format(node)
        if called in ("query", "eval") and isinstance(node.func, ast.Attribute):
            self._check_expression(node)
        if called in _RUNS_TEXT and isinstance(node.func, ast.Name):
            self._check_text(node)
        self.generic_visit(node)

    def _check_attribute_texts(self, node):
        for argument in node.args:
            text = fold_text(argument, self._known)
            for name in (text or "").split("."):
                if name in INTROSPECTION:
                    self._refuse_introspection(node, name)

    def _check_loaded(self, node, position):
        name = fold_text(node.args[position], self._known) if len(node.args) > position else None
        if name:
            self._check_import(node, name.partition(":")[0])

    def _check_format(self, node):
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        for part in (receiver, *node.args[:1]):
            text = fold_text(part, self._known) if part is not None else None
            for name in attributes_in_format(text or ""):
                if name in INTROSPECTION:
                    self._refuse_introspection(node, name)

    def _check_expression(self, node):
        """Checks an expression of pandas, which reaches the script's names with @, and attributes of any object."""
        text = fold_text(node.args[0], self._known) if node.args else None
        inner = self._check_inside((text or "").replace("@", ""))
        for _, rule, what, message in inner:
            # In such an expression, open and eval are names of columns.
            if rule != "builtin" or what == "__import__":
                self._refuse(node, rule, what, message)

    def _check_text(self, node):
        text = fold(node.args[0], self._known) if node.args else None
        for _, rule, what, message in self._check_inside(text if isinstance(text, (str, bytes)) else ""):
            self._refuse(node, rule, what, message)

    def _check_inside(self, text):
        if not text or self._nesting >= _MAX_NESTING:
            return []
        try:
            tree = compile(text, "<text>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return []
        inner = _Check(tree, self.rules, self._nesting + 1)
        inner.members.take_names(self.members)
        inner.visit(tree)
        return inner.found
