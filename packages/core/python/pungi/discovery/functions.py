"""The functions of a script that can be tools: which they are, and each one's schemas and words."""

import ast
import unicodedata

from . import functions_parameters, functions_results
from .defaults import evaluate_or
from .docstrings import parse_docstring
from .module import docstring_of
from .names import FUNCTIONS, Names
from .top_level import is_main_guard

_COMMAND_MAKERS = ("click.", "typer.", "rich_click.", "cyclopts.", "fire.")
_COMMAND_METHODS = {"command", "group", "callback", "result_callback", "resultcallback"}
_NO_TOOLS = {
    "contextlib.contextmanager": "gives a context manager, which ends with the call",
    "contextlib.asynccontextmanager": "gives a context manager, which ends with the call",
    "pytest.fixture": "is a fixture of pytest, which only pytest can call",
}
_MAX_NAME = 128
# A script of more is no collection of tools; what follows is not read.
_MOST_FUNCTIONS = 1000


def find(module):
    """(FunctionTool, …), (Remark, …), as in packages/core/src/contract/wrap.ts."""
    names = Names(module.tree)
    tools, remarks, taken = [], [], _ToolNames()
    chosen = _chosen(module.tree, names, remarks)
    for definition in chosen[:_MOST_FUNCTIONS]:
        _describe(definition, names, taken, tools, remarks)
    if left := chosen[_MOST_FUNCTIONS:]:
        reason = f"It and what follows, {len(left)} functions in all, is not read: a script may have {_MOST_FUNCTIONS}"
        remarks.append(_remark(left[0].lineno, left[0].name, reason, is_skipped=True))
    return tools, remarks


def _chosen(tree, names, remarks):
    defined = {}
    for definition in _definitions(tree.body):
        if not _is_overload(definition, names):
            defined.pop(definition.name, None)
            defined[definition.name] = definition
    exported, line = _exported(tree, names)
    for name in list(exported or ())[:_MOST_FUNCTIONS]:
        if name not in defined and names.get(name) is None:
            remarks.append(_remark(line, name, "__all__ names it, but the script does not define it", is_skipped=True))
    is_command = {name: _is_command(each, names) for name, each in defined.items()}
    return [
        each for name, each in defined.items()
        if (name in exported if exported is not None else not name.startswith("_")) and not is_command[name]
    ]


def _definitions(statements):
    """Also those that stand below an `if` or a `try`, but not what only the type checker or the command line sees."""
    for statement in statements:
        if isinstance(statement, FUNCTIONS):
            yield statement
        elif is_main_guard(statement) or (isinstance(statement, ast.If) and _is_for_type_checkers(statement.test)):
            yield from _definitions(statement.orelse)
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            for handler in getattr(statement, "handlers", ()):
                yield from _definitions(handler.body)
            yield from _definitions(getattr(statement, "orelse", ()))
            yield from _definitions(statement.body)


def _is_for_type_checkers(test):
    return getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"


def _exported(tree, names):
    """(what __all__ lists, as the keys of a dict, or None; the line)."""
    exported, line = None, 1
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            continue
        listed = evaluate_or(statement.value, names)
        if isinstance(listed, list):
            line = line if isinstance(statement, ast.AugAssign) else statement.lineno
            listed = [name for name in listed if isinstance(name, str)]
            if exported is None or not isinstance(statement, ast.AugAssign):
                exported = {}
            exported.update(dict.fromkeys(listed))
    return exported, line


def _is_overload(definition, names):
    return any(names.outside_name(each) == "typing.overload" for each in definition.decorator_list)


def _is_command(definition, names):
    """Decorated for click or typer: then it is a command line, and no function that can be called with arguments."""
    for decorator in definition.decorator_list:
        if names.outside_name(decorator).startswith(_COMMAND_MAKERS):
            return True
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        is_method = isinstance(called, ast.Attribute) and called.attr in _COMMAND_METHODS
        if is_method and names.imports("click", "typer", "rich_click", "asyncclick", "cyclopts"):
            return True
    return False


def _describe(definition, names, taken, tools, remarks):
    for decorator in definition.decorator_list:
        reason = _NO_TOOLS.get(names.outside_name(decorator))
        if reason:
            remarks.append(_remark(definition.lineno, definition.name, f"It {reason}", is_skipped=True))
            return
    name = taken.free(definition.name)
    if not name:
        reason = "Its name has no letter that the name of a tool may have (a to z, digits, _)"
        remarks.append(_remark(definition.lineno, definition.name, reason, is_skipped=True))
        return
    docstring = parse_docstring(docstring_of(definition))
    try:
        schema, doubts = functions_parameters.read(definition, names, docstring)
        output, wraps = functions_results.read(definition, names)
    except functions_parameters.Refused as refusal:
        remarks.append(_remark(refusal.line, refusal.name, refusal.reason, is_skipped=True))
        return
    except RecursionError:
        reason = "Its types are nested too deeply to be read"
        remarks.append(_remark(definition.lineno, definition.name, reason, is_skipped=True))
        return
    taken.add(name)
    remarks.extend(_remark(line, label, reason, is_skipped=False) for line, label, reason in doubts)
    described = {key: each["description"] for key, each in schema["properties"].items() if each.get("description")}
    tools.append({
        "kind": "function",
        "function": definition.name,
        "isAsync": isinstance(definition, ast.AsyncFunctionDef),
        "wrapsResult": wraps,
        "name": name,
        "description": docstring.description,
        "inputSchema": schema,
        "outputSchema": output,
        "line": definition.lineno,
        "source": {"description": docstring.description, "parameters": described},
    })


class _ToolNames:
    """Names of tools are plain ASCII; Python's need not be."""

    def __init__(self):
        self._taken = set()
        # The number that was found last for a name: whatever is below it is taken.
        self._numbers = {}

    def free(self, name):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")[:_MAX_NAME]
        if not plain.strip("_"):
            return ""
        if plain not in self._taken:
            return plain
        base = plain[: _MAX_NAME - 5]
        number = self._numbers.get(base, 2)
        while f"{base}_{number}" in self._taken:
            number += 1
        self._numbers[base] = number
        return f"{base}_{number}"

    def add(self, name):
        self._taken.add(name)


def _remark(line, name, reason, is_skipped):
    sentence = reason if reason.endswith(".") else f"{reason}."
    return {"line": line, "name": name, "reason": sentence, "isSkipped": is_skipped}
