"""Finds optional imports: those in a `try` whose handlers name ImportError.

Such code has a fallback, so a module that the profile denies counts as missing there, like a package that is not
installed.
"""

import ast

_EXPECTED = {"ImportError", "ModuleNotFoundError"}
_TRY = (ast.Try, ast.TryStar) if hasattr(ast, "TryStar") else (ast.Try,)
# Definitions inside a `try` run later, outside of it.
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def imports_in(node):
    """Returns the import statements that the handlers of a `try` statement cover."""
    found, left = set(), list(node.body) if any(map(_expects, node.handlers)) else []
    while left:
        each = left.pop()
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            found.add(each)
        elif not isinstance(each, _LATER):
            left.extend(ast.iter_child_nodes(each))
    return found


def lines_of(source, filename):
    """Returns the line numbers of such imports."""
    if not any(name in source for name in _EXPECTED):
        return frozenset()
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return frozenset(one.lineno for node in ast.walk(tree) if isinstance(node, _TRY) for one in imports_in(node))


def _expects(handler):
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in _EXPECTED for kind in kinds)
