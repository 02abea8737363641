"""Finds the modules that a script needs beyond the standard library."""

import ast
import sys

_ABSENCE = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_LEAVING = {"exit", "_exit", "quit", "abort", "error", "fail"}
_OWN = {"__main__"}
_MOST, _LONGEST = 100, 200
_DOING_SOMETHING = {"__future__", "__main__", "antigravity", "idlelib", "pungi", "test", "this", "turtledemo"}


def foreign_imports(tree):
    """Top-level names, imported anywhere. What the script can do without is left out, and what only type checkers import."""
    found = set()
    _collect(tree, found)
    return sorted(found - sys.stdlib_module_names - _OWN)


def first_imports(tree):
    """Modules that every run of the script imports before it does anything else, in their order."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            found.update((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found[node.module] = None
    return [name for name in found if _can_come_early(name)][:_MOST]


def _can_come_early(name):
    """Excludes modules that do something when they are imported, such as `this` and `__main__` modules."""
    top, _, rest = name.partition(".")
    is_program = top in _DOING_SOMETHING or rest.endswith("__main__")
    return not is_program and top not in _OWN and len(name) <= _LONGEST


def _collect(node, found):
    # Iterative, so depth is safe.
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                found.add(node.module.partition(".")[0])
        else:
            waiting.extend(_needed_parts(node))


def _needed_parts(node):
    if isinstance(node, ast.Try) and any(map(_forgives, node.handlers)):
        return [*node.orelse, *node.finalbody]
    if isinstance(node, ast.If) and _is_for_type_checkers(node.test):
        return node.orelse
    if isinstance(node, ast.With) and any(map(_suppresses, node.items)):
        return []
    return ast.iter_child_nodes(node)


def _forgives(handler):
    """Whether the script handles a missing module."""
    return _catches_absence(handler.type) and not _leaves(handler.body[-1])


def _catches_absence(kind):
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(_last_name(each) in _ABSENCE for each in kinds)


def _leaves(statement):
    if isinstance(statement, ast.Raise):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and _last_name(call.func) in _LEAVING


def _suppresses(item):
    call = item.context_expr
    return isinstance(call, ast.Call) and _last_name(call.func) == "suppress" and any(map(_catches_absence, call.args))


def _is_for_type_checkers(test):
    return _last_name(test) == "TYPE_CHECKING"


def _last_name(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
