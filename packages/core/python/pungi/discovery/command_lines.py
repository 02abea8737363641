"""The command line of a script as tools: one, or one for each subcommand."""

import ast

from . import argparse_cli, click_cli, top_level, typer_cli
from .command_model import Command, Findings, Parameter, tool_name, tool_of
from .tracing import Trace

_READERS = {"argparse": argparse_cli.find, "click": click_cli.find, "typer": typer_cli.find}
_SAME_LIBRARY = {"rich_click": "click", "asyncclick": "click"}
# These define command lines as well, in ways that are not read.
_OTHERS = {
    "optparse", "getopt", "docopt", "fire", "absl", "plac", "cyclopts", "tyro", "cleo", "configargparse", "simple_parsing",
    "tap",
}
_INPUT = {
    "sys.stdin", "sys.__stdin__", "fileinput.input", "fileinput.FileInput", "click.get_text_stream", "click.get_binary_stream",
}
_PASSIVE = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Pass,
)
_MOST_COMMANDS = 500


class CommandLine:
    """`tools`: as the contract has them; `functions`: those that are commands; `remarks`."""

    def __init__(self, tools, functions, remarks):
        self.tools, self.functions, self.remarks = tools, functions, remarks


def find(module, function_names):
    """`function_names`: those that become tools of their own, whose names are taken."""
    imported = _imported_modules(module.tree)
    stem = tool_name(module.filename.rpartition("/")[2].removesuffix(".py"))
    findings = _read(module, imported)
    reads_stdin = _reads_stdin(module.tree)
    if findings.commands:
        serving = findings.functions | ({"main"} if _is_entry(module.tree, "main") else set())
        tools = _tools(findings, stem, module, reads_stdin, set(function_names) - serving)
        for node in _functions(module.tree):
            if node.name in serving & set(function_names):
                findings.remark(node.lineno, node.name, "it serves the command line", is_skipped=True)
        return CommandLine(tools, serving, findings.remarks)
    left = set(function_names) - findings.functions
    does_more = top_level.has_main_guard(module.tree) or top_level.has_side_effects(module.tree)
    if not does_more and (left or not _does_anything(module.tree)):
        if not left and not findings.remarks:
            what = "it only defines, and no function that could be a tool"
            what = what if module.tree.body else "there is no statement in it"
            findings.remark(1, module.filename.rpartition("/")[2], what, is_skipped=True)
        return CommandLine([], findings.functions, findings.remarks)
    for name in sorted(imported & _OTHERS):
        findings.remark(1, name, f"command lines that {name} defines are not read, so its words are given as a list")
    name = tool_name(stem, "script") if stem in left else stem
    return CommandLine([_plain_tool(module, name)], findings.functions, findings.remarks)


def _read(module, imported):
    libraries = [name for name in _READERS if name in {_SAME_LIBRARY.get(each, each) for each in imported}]
    findings = Findings()
    if not libraries:
        return findings
    trace = Trace(module)
    program = module.filename.rpartition("/")[2]
    for library in libraries:
        found = _READERS[library](trace, program)
        findings.remarks += found.remarks
        findings.functions |= found.functions
        for command in found.commands:
            command.parser = library
        # A script that has two of them has one for what it is asked, and the other one for something else.
        findings.commands = findings.commands or found.commands
    if not trace.is_complete:
        findings.remark(1, program, "it is too tangled to be read to its end, so its command line may have more than was found")
    if not findings.commands and "argparse" in libraries and "ArgumentParser" in module.source:
        findings.remark(1, program, "its argparse parser is not reached when the script is run, so it is not read")
    if len(findings.commands) > _MOST_COMMANDS:
        findings.remark(1, program, f"only the first {_MOST_COMMANDS} of its {len(findings.commands)} subcommands are tools")
        del findings.commands[_MOST_COMMANDS:]
    return findings


def _tools(findings, stem, module, reads_stdin, taken):
    tools = []
    for command in findings.commands:
        if not command.description and not command.words:
            command.description = module.description
        command.description = command.description or _runs(module, command.words)
        name = base = tool_name(stem, *command.words)
        number = 2
        while name in taken:
            name, number = (f"{base}_script", number) if number == 2 else (f"{base}_{number}", number + 1)
            number = max(number, 3)
        taken.add(name)
        # "-" is how command lines call standard input.
        has_dash = any(each.default == "-" and each.schema.get("format") == "path" for each in command.parameters)
        tools.append(tool_of(command, name, reads_stdin or has_dash))
    return tools


def _plain_tool(module, name):
    command = Command([], module.description or _runs(module, []), 1)
    words = Parameter("args", None, "many", {"type": "string"}, 1)
    words.description = "The words of its command line, in their order."
    command.parameters = [words]
    return tool_of(command, name, reads_stdin=True)


def _runs(module, words):
    return " ".join(["Runs", module.filename.rpartition("/")[2], *words]) + "."


def _imported_modules(tree):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _reads_stdin(tree):
    """Whether it is anywhere said to read what comes on standard input."""
    for node in ast.walk(tree):
        is_member = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if is_member and f"{node.value.id}.{node.attr}" in _INPUT:
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "sys" and any(alias.name == "stdin" for alias in node.names):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "input":
            return True
    return False


def _functions(tree):
    return [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _is_entry(tree, name):
    """A function without parameters that a command line is read in: it is the script itself."""
    for node in _functions(tree):
        if node.name == name:
            about = node.args
            return not (about.posonlyargs or about.args or about.kwonlyargs or about.vararg or about.kwarg)
    return False


def _does_anything(tree):
    """Whether there is a statement that is neither text, import nor definition: without one it does nothing when it is run."""
    return any(not isinstance(node, _PASSIVE) and not _is_text(node) for node in tree.body)


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
