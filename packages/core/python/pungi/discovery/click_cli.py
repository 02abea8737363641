"""Command lines that click defines: functions that are decorated as commands, and groups of them."""

import ast
import re

from .click_options import read_argument, read_option, read_ready_made
from .command_model import Command, Findings, before_word
from .command_types import canonical
from .module import docstring_of
from .static_values import UNKNOWN, Function, Made, Member, Reference

_COMMANDS, _GROUPS = {"command"}, {"group"}
_SUFFIX = re.compile(r"_(command|cmd|group|grp)$")


class _Node:
    """A command or a group: `maker` is the decorator that says so, `children` {word: node}."""

    def __init__(self, function, maker, is_group):
        self.function, self.maker, self.is_group = function, maker, is_group
        self.children, self.parameters = {}, []
        self.parent = None
        self.is_called = False

    @property
    def about(self):
        return self.maker.kwargs

    def name(self, findings):
        given = self.about.get("name", self.maker.args[0] if self.maker.args else None)
        if isinstance(given, str):
            return given
        own = self.function.node.name.lower()
        if _SUFFIX.search(own):
            reason = "click before 8.2 keeps the end of such a name as part of the subcommand"
            findings.remark(self.function.node.lineno, own, reason)
            own = _SUFFIX.sub("", own)
        return own.replace("_", "-")

    def description(self):
        given = self.about.get("help")
        text = given if isinstance(given, str) else docstring_of(self.function.node)
        if not text and isinstance(self.about.get("short_help"), str):
            text = self.about["short_help"]
        return text.partition("\f")[0].replace("\b\n", "").strip()


def find(trace, program):
    reading = _Reading(trace)
    for function in list(trace.functions):
        reading.take(function)
    for call in list(trace.calls):
        reading.join(call)
    return reading.finish(program)


class _Reading:
    def __init__(self, trace):
        self.findings = Findings()
        self._trace = trace
        self._nodes = {}

    def take(self, function):
        """A function that is decorated as a command."""
        decorators = [each for decorator in function.decorators for each in self._unfold(decorator)]
        for decorator in decorators:
            kind, owner = _kind(decorator)
            if kind in _COMMANDS | _GROUPS and (owner is None or id(owner) in self._nodes):
                break
        else:
            return
        if isinstance(decorator, (Reference, Member)):
            decorator = Made(decorator, [], {}, function.node)
        node = _Node(function, decorator, kind in _GROUPS)
        self._nodes[id(function)] = node
        self.findings.functions.add(function.node.name)
        for each in decorators:
            self._add_parameter(node, each)
        self.findings.functions |= self._own_decorators(function.node)
        if owner is not None:
            self._attach(self._nodes[id(owner)], node, node.name(self.findings))

    def _own_decorators(self, node):
        """The names of functions of the script that only decorate commands."""
        named = [decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in node.decorator_list]
        return {each.id for each in named if isinstance(each, ast.Name) and isinstance(self._trace.get(each.id), Function)}

    def _unfold(self, decorator):
        """A decorator of the script's own is gone through, to see what it decorates with."""
        if not isinstance(decorator, Function):
            return [decorator]
        before = len(self._trace.calls)
        marker = Made(UNKNOWN, [], {}, decorator.node)
        given = self._trace.enter(decorator, [marker], {})
        applied = [call.callee for call in self._trace.calls[before:] if isinstance(call.callee, Made) and call.args][::-1]
        # A function that it puts in the place of the command may be decorated as well.
        return [*applied, *(given.decorators if isinstance(given, Function) else ())]

    def _add_parameter(self, node, decorator):
        if not isinstance(decorator, Made) or decorator is node.maker:
            return
        kind, owner = _kind(decorator)
        if owner is not None:
            return
        if kind == "option":
            parameter = read_option(decorator.kwargs, decorator.args, decorator.line, self.findings)
            if parameter is None and not any(isinstance(arg, str) for arg in decorator.args):
                reason = "the name of an option is known only when the script runs"
                self.findings.remark(decorator.line, node.function.node.name, reason, is_skipped=True)
        elif kind == "argument":
            parameter = read_argument(decorator.kwargs, decorator.args, decorator.line, self.findings)
        else:
            parameter = read_ready_made(kind, decorator, self.findings)
        if parameter is not None:
            node.parameters.append(parameter)

    def join(self, call):
        """`group.add_command(command, name)`, and what is run in the end."""
        if isinstance(call.callee, Member) and call.callee.name == "add_command" and id(call.callee.owner) in self._nodes:
            child = self._nodes.get(id(call.args[0])) if call.args else None
            name = call.kwargs.get("name", call.args[1] if len(call.args) > 1 else None)
            if child is None:
                self.findings.remark(call.line, "add_command", "the command that is added is not defined in this script", True)
            else:
                word = name if isinstance(name, str) else child.name(self.findings)
                self._attach(self._nodes[id(call.callee.owner)], child, word)
        called = call.callee
        if isinstance(called, Member) and called.name in ("main", "__call__"):
            called = called.owner
        if id(called) in self._nodes:
            self._nodes[id(called)].is_called = True

    def _attach(self, parent, child, word):
        child.parent = parent
        parent.children[word] = child

    def finish(self, program):
        roots = [node for node in self._nodes.values() if node.parent is None]
        called = [node for node in roots if node.is_called]
        for root in roots if not called else ():
            name = root.function.node.name
            self.findings.remark(root.function.node.lineno, name, f"it is never called when {program} is run", True)
        for other in called[1:]:
            name = other.function.node.name
            reason = f"another command line; the one of {called[0].function.node.name}() is taken"
            self.findings.remark(other.function.node.lineno, name, reason, True)
        if called:
            self._add_commands(called[0], [], [])
        return self.findings

    def _add_commands(self, node, words, before):
        if node.about.get("chain") is True:
            reason = "its subcommands may be chained; each of them is a tool of its own"
            self.findings.remark(node.function.node.lineno, node.function.node.name, reason)
        stands_alone = not node.is_group or node.about.get("invoke_without_command") is True
        if stands_alone:
            command = Command(words, node.description(), node.function.node.lineno)
            command.parameters, command.before = node.parameters, before
            self.findings.commands.append(command)
        own = before_word(node.parameters, len(words), self.findings) if node.children else []
        for word, child in node.children.items():
            self._add_commands(child, [*words, word], [*before, *own])


def _kind(decorator):
    """(what it is in click, the group that was asked for it): ("option", None), ("command", function)"""
    callee = decorator.callee if isinstance(decorator, Made) else decorator
    if isinstance(callee, Reference) and canonical(callee.name).startswith("click."):
        return canonical(callee.name).rpartition(".")[2], None
    if isinstance(callee, Member) and isinstance(callee.owner, Function):
        return callee.name, callee.owner
    return "", None
