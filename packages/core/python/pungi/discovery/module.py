"""The syntax tree of a script: line numbers, order, and texts below fields, which introspection cannot give."""

import ast
import contextlib

from ..scope.scope_reading import deep_recursion
from .top_level import is_main_guard

_BYTE_ORDER_MARK = "\ufeff"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module:
    """`tree`: its syntax; `source`: its text; `filename`: what messages call it; `stem`: what its command line is called.
    Raises what the compiler says of text that is no Python."""

    def __init__(self, source, filename, package=""):
        self.source = source.removeprefix(_BYTE_ORDER_MARK)
        self.filename, self.package = filename.rpartition("/")[2], package
        with deep_recursion():
            # To its end, and not only to its syntax: a "return" outside of a function is found by a later pass.
            compile(self.source, filename, "exec", dont_inherit=True)
            self.tree = compile(self.source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        self.description = docstring_of(self.tree)
        self._field_docs = None

    @property
    def is_package(self):
        return bool(self.package) and self.filename == "__init__.py"

    @property
    def stem(self):
        is_of_package = bool(self.package) and self.filename in ("__init__.py", "__main__.py")
        return self.package.rpartition(".")[2] if is_of_package else self.filename.removesuffix(".py")

    def definitions(self):
        """The functions at its top level, also below conditions and loops, in their order."""
        return list(_definitions(self.tree.body))

    def resolve_checked_imports(self, scope):
        """Adds to `scope` what the script imports for type checkers alone: hints name it."""
        for statement in self.tree.body:
            if not (isinstance(statement, ast.If) and _is_for_type_checkers(statement.test)):
                continue
            for node in statement.body:
                found = {key: scope.get(key) for key in ("__name__", "__package__", "__builtins__")}
                with contextlib.suppress(Exception):
                    exec(compile(ast.Module([node], []), self.filename, "exec"), found)
                scope.update((name, value) for name, value in found.items() if name not in scope)

    def line_of(self, name):
        """Returns the line of the first assignment of a name at the top level; 1 if there is none."""
        for node in self.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return node.lineno
        return 1

    def classes(self):
        return [node for node in self.tree.body if isinstance(node, ast.ClassDef)]

    def field_docs(self, kind):
        """{field: the text that stands below it in the class}"""
        if self._field_docs is None:
            self._field_docs = dict(_classes_in(self.tree.body, ""))
        return self._field_docs.get(kind.__qualname__, {})


def _definitions(statements):
    for statement in statements:
        if isinstance(statement, FUNCTIONS):
            yield statement
        elif is_main_guard(statement) or (isinstance(statement, ast.If) and _is_for_type_checkers(statement.test)):
            yield from _definitions(statement.orelse)
        elif isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            yield from _definitions(statement.body)
            for handler in getattr(statement, "handlers", ()):
                yield from _definitions(handler.body)
            yield from _definitions(getattr(statement, "orelse", ()))
            yield from _definitions(getattr(statement, "finalbody", ()))


def _is_for_type_checkers(test):
    return getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"


def _classes_in(statements, prefix):
    for node in statements:
        if isinstance(node, ast.ClassDef):
            name = f"{prefix}{node.name}"
            yield name, dict(_texts_below_fields(node.body))
            yield from _classes_in(node.body, f"{name}.")


def _texts_below_fields(statements):
    for field, text in zip(statements, statements[1:]):
        is_field = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if is_field and isinstance(text, ast.Expr) and isinstance(getattr(text.value, "value", None), str):
            yield field.target.id, dedent(text.value.value)


def docstring_of(node):
    """Without the indentation of its lines. What the standard library has for it would have to load much more."""
    first = node.body[0] if node.body else None
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)):
        return ""
    return dedent(first.value.value)


def dedent(text):
    first, *rest = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    # A form feed stays: it has a meaning for click.
    return "\n".join([first.strip(" "), *(line[margin:].rstrip(" \r") for line in rest)]).strip(" \r\n")
