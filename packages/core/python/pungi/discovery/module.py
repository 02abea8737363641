"""A script as its parser sees it. It is never imported."""

import ast

from ..scope.scope_reading import deep_recursion

_BYTE_ORDER_MARK = "\ufeff"


class Module:
    """`tree`: its syntax; `source`: its text; `filename`: what messages call it. Raises what the compiler says of no Python."""

    def __init__(self, source, filename):
        self.source = source.removeprefix(_BYTE_ORDER_MARK)
        self.filename = filename
        with deep_recursion():
            # To its end, and not only to its syntax: a "return" outside of a function is found by a later pass.
            compile(self.source, filename, "exec", dont_inherit=True)
            self.tree = compile(self.source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        self.description = docstring_of(self.tree)


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
