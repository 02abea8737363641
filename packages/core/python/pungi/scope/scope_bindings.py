"""Finds the names that a script binds, and those that refer to modules or constant strings."""

import ast

from .scope_constants import fold

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)
_USUAL_ALIASES = {"pd": "pandas", "np": "numpy"}


def bound_in(scope):
    """Returns the names that a function, lambda or comprehension binds, which therefore are not builtins."""
    bound, declared = set(), set()
    if isinstance(scope, FUNCTIONS):
        bound |= {node.arg for node in ast.walk(scope.args) if isinstance(node, ast.arg)}
        roots = scope.body if isinstance(scope.body, list) else [scope.body]
    else:
        roots = [generator.target for generator in scope.generators]
    for node in (node for root in roots for node in _own_nodes(root)):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            declared |= set(node.names)
        else:
            bound |= set(_names_bound_by(node))
    return bound - declared


def bound_for_certain(body):
    """Maps each name to the position after which the statements of a module or class have certainly bound it."""
    places, deleted = {}, set()
    for statement in body:
        for name in _names_of_statement(statement):
            places.setdefault(name, (statement.end_lineno, statement.end_col_offset))
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
                deleted.add(node.id)
    return {name: place for name, place in places.items() if name not in deleted}


def _names_of_statement(statement):
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        if statement.value is None:
            return
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield from _names_bound_by(alias)
    elif isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        yield statement.name


def _own_nodes(root):
    """Yields the nodes below one; of a nested scope, only its header."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, COMPREHENSIONS):
            # An assignment expression inside binds in the enclosing function.
            yield from (inner.target for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
        elif not isinstance(node, SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _names_bound_by(node):
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.alias) and node.name != "*":
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def modules_by_name(tree, rules):
    """Maps each name to the dotted path that it refers to anywhere in the script, including imports of the profile.
    """
    bound = {name for node in ast.walk(tree) for name in _names_bound_by(node)}
    brought = {name.rpartition(".")[2]: name for name in rules.allowed or ()} | _USUAL_ALIASES | rules.brought
    paths = {name: path for name, path in brought.items() if name not in bound}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            paths.update((_import_binding(alias)) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            paths.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
    return paths


def _import_binding(alias):
    top = alias.name.partition(".")[0]
    return (alias.asname, alias.name) if alias.asname else (top, top)


def assigned_values(tree):
    """Maps each name with exactly one plain assignment in the script to the node of its value."""
    values, counts = {}, {}
    for node in ast.walk(tree):
        for name in _names_bound_by(node):
            counts[name] = counts.get(name, 0) + 1
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
        elif isinstance(node, ast.NamedExpr):
            values[node.target.id] = node.value
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {name: value for name, value in values.items() if counts[name] == 1 and name not in arguments}


def constants_by_name(values):
    """Returns the constant ones; a few rounds, because constants may be built from others."""
    known = {}
    for _ in range(3):
        for name, value in values.items():
            if name not in known and (constant := fold(value, known)) is not None:
                known[name] = constant
    return known
