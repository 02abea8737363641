"""The command line of a script as tools: one, or one for each subcommand."""

import ast
import inspect
import sys
import types

from . import argparse_commands, click_commands, entry_points, optparse_commands, top_level
from .commands import Command, Findings, Parameter, tool_of
from .parameters import is_constant
from .remarks import remark
from .tool_names import command_name

_READ = {"argparse", "optparse", "click", "typer", "rich_click", "asyncclick"}
# Other libraries for command lines, which are not supported.
_OTHERS = {
    "getopt", "docopt", "fire", "absl", "plac", "cyclopts", "tyro", "cleo", "configargparse", "simple_parsing",
    "tap",
}
_INPUT = {
    "sys.stdin", "sys.__stdin__", "fileinput.input", "fileinput.FileInput", "click.get_text_stream", "click.get_binary_stream",
}
_PASSIVE = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Pass,
)
_MOST_COMMANDS = 500
# Common names of entry points of installed programs.
_ENTRIES = ("main", "cli", "app", "run", "console_main", "_main")
_NAMESPACES = {"args", "arguments", "namespace", "opts", "options", "parser"}


class CommandLine:
    """`tools`: as the contract has them; `functions`: names of those that serve it; `callbacks`: of those that are its commands;
    `problem`: why no call of it can work."""

    def __init__(self, tools, findings, problem=None):
        self.tools, self.remarks, self.problem = tools, findings.remarks, problem
        self.callbacks, self.functions = findings.callbacks, findings.functions | findings.callbacks


def is_read(module):
    """Whether running the script may lead to a command line that can be read."""
    does_more = top_level.has_main_guard(module.tree) or top_level.has_side_effects(module.tree)
    return does_more and bool(_imported(module.tree) & _READ or _calls_foreign(module.tree))


def find(module, name, function_names, scope, run_main, path, is_explained=False):
    """`scope`: the variables of the loaded script; `run_main()`: runs it as __main__. `name`: what its tool is called.
    `is_explained`: remarks say already why it has no functions."""
    interception, entry, error, seconds = None, None, None, 10
    if is_read(module):
        interception, error = entry_points.reach(path, run_main, seconds)
    elif scope is not None and not module.tree.body == [] and not _acts(module):
        entry, interception = _entry_of(scope, path, module, seconds)
    if interception is None or interception.parser is None:
        return _unread(module, name, function_names, error, scope, is_explained)
    findings = _read(interception, module, scope)
    findings.functions |= interception.functions | _served(scope, function_names) | _decorators(module, findings.callbacks)
    if entry:
        findings.functions.add(entry)
    tools = _tools(findings, name, module, set(function_names) - findings.functions - findings.callbacks, entry)
    for node in module.definitions():
        if node.name in (findings.functions & set(function_names)) - findings.callbacks:
            findings.remark(node.lineno, node.name, "it serves the command line", is_skipped=True)
    return CommandLine(tools, findings)


def _acts(module):
    return top_level.has_main_guard(module.tree) or top_level.has_side_effects(module.tree)


def _entry_of(scope, path, module, seconds):
    """(its name, an Interception): the function or command that an installed program would be started by."""
    commands = {name: command for name, command in ((name, _click_command(value)) for name, value in scope.items()) if command}
    children = {id(child) for command in commands.values() for child in (getattr(command, "commands", None) or {}).values()}
    roots = {name: command for name, command in commands.items() if id(command) not in children}
    if roots:
        name = next((each for each in _ENTRIES if each in roots), next(iter(roots)))
        interception = entry_points.Interception(path)
        interception.parser = roots[name]
        return name, interception
    if not _imported(module.tree) & _READ:
        return None, None
    for name in _ENTRIES:
        function = scope.get(name)
        if isinstance(function, types.FunctionType) and not _needs_arguments(function):
            interception, _ = entry_points.reach(path, function, seconds)
            if interception.parser is not None:
                return name, interception
    return None, None


def _click_command(value):
    """A command of click; of an application of typer, the one that typer makes of it."""
    if isinstance(value, type):
        return None
    if type(value).__name__ == "Typer" and (value.registered_commands or value.registered_groups):
        return sys.modules["typer.main"].get_command(value)
    return value if hasattr(value, "make_context") and hasattr(value, "params") and hasattr(value, "callback") else None


def _needs_arguments(function):
    try:
        inspect.signature(function).bind()
    except TypeError:
        return True
    return False


def _served(scope, names):
    """Finds functions that belong to the command line: with the parsed arguments or the parser as only parameter, or `main()`."""
    found = set()
    for name in names:
        function = (scope or {}).get(name)
        code = getattr(function, "__code__", None)
        if code is not None and code.co_argcount == 1 and code.co_varnames[0] in _NAMESPACES and not function.__annotations__:
            found.add(name)
        elif name == "main" and code is not None and not code.co_argcount + code.co_kwonlyargcount:
            found.add(name)
    return found


def _decorators(module, callbacks):
    """Finds functions of the script that decorate its commands."""
    named = [decorator for node in module.definitions() if node.name in callbacks for decorator in node.decorator_list]
    return {each.id for each in (getattr(each, "func", each) for each in named) if isinstance(each, ast.Name)}


def _volatile_lines(module, scope):
    """Lines of calls with a default that another run may compute differently, such as default=os.cpu_count()."""
    found = set()
    for node in ast.walk(module.tree):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "default" and not is_constant(keyword.value, scope):
                found.update(range(node.lineno, node.end_lineno + 1))
    return found


def _read(interception, module, scope):
    lines = {node.name: node.lineno for node in module.definitions()}
    if hasattr(interception.parser, "option_groups"):
        findings = optparse_commands.read(interception.parser, interception.lines)
    elif hasattr(interception.parser, "_actions"):
        volatile = _volatile_lines(module, scope or {})
        findings = argparse_commands.read(interception.parser, interception.lines, module.filename, volatile)
    else:
        line_of = lambda function: lines.get(getattr(function, "__name__", ""), 1)  # noqa: E731
        findings = click_commands.read(interception.parser, module.filename, line_of)
    if len(findings.commands) > _MOST_COMMANDS:
        reason = f"only the first {_MOST_COMMANDS} of its {len(findings.commands)} subcommands are tools"
        findings.remark(1, module.filename, reason)
        del findings.commands[_MOST_COMMANDS:]
    return findings


def _unread(module, name, function_names, error, scope, is_explained):
    findings, left = Findings(), set(function_names)
    imported = _imported(module.tree)
    if error is not None:
        reason = f"its command line is not read: the script ended with {_words(error)} before it parsed any"
        findings.remark(1, module.filename, reason)
    elif scope is not None and "argparse" in imported and "ArgumentParser" in module.source:
        findings.remark(1, module.filename, "its argparse parser is not reached when the script is run, so it is not read")
    if not _acts(module) and (left or not _does_anything(module.tree)):
        if not left and not findings.remarks and not is_explained:
            what = "it only defines, and no function that could be a tool" if module.tree.body else "there is no statement in it"
            findings.remark(1, module.filename, what, is_skipped=True)
        return CommandLine([], findings)
    findings.remarks += other_libraries(module)
    problem = f"{module.filename} cannot be run: {_words(error)}." if isinstance(error, ImportError) else None
    return CommandLine([plain_tool(module, name, left)], findings, problem)


def other_libraries(module):
    return [
        remark(1, other, f"Command lines that {other} defines are not read, so its words are given as a list")
        for other in sorted(_imported(module.tree) & _OTHERS)
    ]


def _words(error):
    text = str(error).partition("\n")[0][:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _tools(findings, name, module, taken, entry):
    tools = []
    reads_stdin = _reads_stdin(module.tree) or _is_stub(module.tree)
    for command in findings.commands:
        if not command.description and not command.words:
            command.description = module.description
        command.description = command.description or _runs(module, command.words)
        base = free = command_name(name, *command.words)
        number = 2
        while free in taken:
            free, number = (f"{base}_script" if number == 2 else f"{base}_{number}"), number + 1
        taken.add(free)
        # "-" means standard input.
        has_dash = any(each.default == "-" and each.schema.get("format") == "path" for each in command.parameters)
        tools.append(tool_of(command, free, reads_stdin or has_dash, entry))
    return tools


def plain_tool(module, name, taken=()):
    """The script with any words and any input."""
    command = Command([], module.description or _runs(module, []), 1)
    words = Parameter("args", None, "many", {"type": "string"}, 1)
    words.description = "The words of its command line, in their order."
    command.parameters = [words]
    base = command_name(name)
    return tool_of(command, command_name(base, "script") if base in taken else base, reads_stdin=True)


def _runs(module, words):
    return " ".join(["Runs", module.filename, *words]) + "."


def _imported(tree):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _calls_foreign(tree):
    """Whether running the script calls something imported from outside the standard library."""
    foreign = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            foreign |= {alias.asname or alias.name.partition(".")[0] for alias in node.names if _is_foreign(alias.name)}
        elif isinstance(node, ast.ImportFrom) and (node.level or _is_foreign(node.module or "")):
            foreign |= {alias.asname or alias.name for alias in node.names}
    for statement in tree.body:
        acting = top_level.is_main_guard(statement) or isinstance(statement, ast.Expr)
        for node in ast.walk(statement) if acting else ():
            if isinstance(node, ast.Call) and _root(node.func) in foreign:
                return True
    return False


def _is_foreign(module):
    return module.partition(".")[0] not in sys.stdlib_module_names


def _root(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _reads_stdin(tree):
    """Whether any part of the script refers to standard input."""
    for node in ast.walk(tree):
        is_member = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if is_member and f"{node.value.id}.{node.attr}" in _INPUT:
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "sys" and any(alias.name == "stdin" for alias in node.names):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "input":
            return True
    return False


def _is_stub(tree):
    """Whether the script only starts imported code, of which it is unknown whether it reads standard input."""
    parts = (ast.Import, ast.ImportFrom)
    return all(isinstance(node, parts) or _is_text(node) or top_level.is_main_guard(node) for node in tree.body)


def _does_anything(tree):
    """Whether running the script does anything: it has a statement other than a string, an import or a definition."""
    return any(not isinstance(node, _PASSIVE) and not _is_text(node) for node in tree.body)


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
