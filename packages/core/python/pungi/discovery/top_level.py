"""What happens when a script is only loaded: its main guard, what it does besides defining, and what it exports."""

import ast

# Calls that make something and leave the world as it is. Names that begin with a capital letter are classes.
_MAKERS = {
    "int", "float", "str", "bool", "bytes", "bytearray", "list", "dict", "set", "tuple", "frozenset", "object", "type",
    "len", "range", "min", "max", "sum", "sorted", "reversed", "zip", "map", "filter", "enumerate", "abs", "round", "repr",
    "iter", "super", "isinstance", "hasattr", "getattr", "namedtuple", "defaultdict", "deque", "compile", "getLogger",
    "get_logger", "getenv", "get", "field", "partial", "lru_cache", "cache", "join", "split", "format", "strip", "lower",
    "upper", "replace", "encode", "decode", "keys", "values", "items", "copy", "deepcopy", "dirname", "abspath", "basename",
    "realpath", "expanduser", "resolve", "absolute", "with_name", "with_suffix", "joinpath", "cwd", "home", "dedent",
    "fromkeys", "timedelta", "date", "datetime", "itemgetter", "attrgetter", "count", "version", "cpu_count", "getcwd",
    "gettempdir", "getuser", "today", "now", "utcnow", "time", "perf_counter", "python_version", "find_spec", "array",
    "zeros", "ones", "arange", "linspace", "create_model", "option", "argument",
}
# Calls on a line of their own that only set up what comes later.
_SETTERS = {
    "basicConfig", "filterwarnings", "simplefilter", "set_option", "seed", "setlocale", "load_dotenv", "setrecursionlimit",
    "set_theme", "set_style", "use", "captureWarnings", "disable_warnings", "install", "setLevel", "addHandler", "update",
    "append", "extend", "insert", "setdefault", "add", "add_argument", "add_command", "add_typer", "set_defaults",
    "register", "excepthook",
}
_SETTER_OWNERS = {"install": {"uvloop", "pretty", "traceback"}, "use": {"matplotlib", "mpl", "style"}, "register": {"atexit"}}


def has_main_guard(tree):
    return any(is_main_guard(statement) for statement in tree.body)


def is_main_guard(statement):
    return isinstance(statement, ast.If) and any(map(_asks_for_main, [statement.test, *_parts(statement.test)]))


def _parts(test):
    return test.values if isinstance(test, ast.BoolOp) else ()


def _asks_for_main(test):
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = [test.left, test.comparators[0]]
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    texts = {side.value for side in sides if isinstance(side, ast.Constant)}
    return names == {"__name__"} and texts == {"__main__"}


def has_side_effects(tree):
    """Whether loading it does more than define: known harmless calls, such as making a logger, do not count."""
    return any(map(_does_something, tree.body))


def _does_something(statement):
    if is_main_guard(statement):
        return any(map(_does_something, statement.orelse))
    if isinstance(statement, (ast.While, ast.With, ast.AsyncWith, ast.AsyncFor, ast.Raise)):
        return True
    if isinstance(statement, ast.Expr):
        return _is_acting(statement.value)
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return statement.value is not None and _acts(statement.value)
    if isinstance(statement, ast.Assert):
        return _acts(statement.test)
    if isinstance(statement, ast.If):
        return _acts(statement.test) or any(map(_does_something, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.For):
        return _acts(statement.iter) or any(map(_does_something, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
        # Handlers run only after a failure, such as a missing module.
        return any(map(_does_something, [*statement.body, *statement.orelse, *statement.finalbody]))
    if isinstance(statement, ast.Match):
        return any(map(_does_something, [line for case in statement.cases for line in case.body]))
    return False


def _is_acting(expression):
    """Of an expression on a line of its own."""
    if isinstance(expression, ast.Call):
        name, owner = _called(expression.func)
        if name in _SETTERS and (name not in _SETTER_OWNERS or owner in _SETTER_OWNERS[name]):
            return any(map(_acts, [*expression.args, *(keyword.value for keyword in expression.keywords)]))
        return True
    return _acts(expression)


def _acts(expression):
    """Whether it contains a call that is not known to be harmless."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Call):
            name, _ = _called(node.func)
            if not (name in _MAKERS or name.lstrip("_")[:1].isupper()):
                return True
        waiting.extend(ast.iter_child_nodes(node))
    return False


def _called(function):
    """(its last name, the name before it)"""
    if isinstance(function, ast.Name):
        return function.id, ""
    if isinstance(function, ast.Attribute):
        return function.attr, _called(function.value)[0] if isinstance(function.value, (ast.Name, ast.Attribute)) else ""
    # What a call gave is called: a decorator that is applied by hand, or an entry of a table.
    return "", ""
