"""Command lines that typer makes of functions: applications, their commands, and applications within them."""

from .command_model import Command, Findings, before_word
from .module import docstring_of
from .static_values import Function, Made, Member
from .typer_parameters import read_parameters


class _Application:
    """`commands`: {word: (function, keywords)}; `parts`: {word: application}; `callback`: takes the options before them."""

    def __init__(self, made):
        self.made = made
        self.commands, self.parts = {}, {}
        self.callback = made.kwargs.get("callback") if isinstance(made.kwargs.get("callback"), Function) else None
        self.callback_about = dict(made.kwargs)
        self.is_called = self.is_part = False

    @property
    def is_one_command(self):
        """Then there is no word for it."""
        return len(self.commands) == 1 and not self.parts and self.callback is None


def find(trace, program):
    return _Reading(trace).read(program)


class _Reading:
    def __init__(self, trace):
        self.findings = Findings()
        self._trace = trace
        self._applications = {id(call): _Application(call) for call in trace.calls if call.is_of("typer.Typer")}

    def read(self, program):
        for function in self._trace.functions:
            for decorator in function.decorators:
                self._register(decorator, function)
        for call in self._trace.calls:
            self._follow(call)
        runs = [call for call in self._trace.calls if call.is_of("typer.run") and isinstance((*call.args, None)[0], Function)]
        called = [app for app in self._applications.values() if app.is_called and not app.is_part]
        if called:
            self._add_commands(called[0], [], [])
        elif runs:
            function = runs[0].args[0]
            self.findings.functions.add(function.node.name)
            self._add_command(function, {}, [], [])
        else:
            self._tell_uncalled(program)
        return self.findings

    def _tell_uncalled(self, program):
        for app in self._applications.values():
            if not app.is_part and (app.commands or app.parts):
                self.findings.remark(app.made.line, "typer.Typer", f"it is never called when {program} is run", True)

    def _application(self, value):
        return self._applications.get(id(value.owner)) if isinstance(value, Member) else None

    def _register(self, decorator, function):
        """`@app.command()` and `@app.callback()`."""
        if not isinstance(decorator, Made) or (app := self._application(decorator.callee)) is None:
            return
        if decorator.callee.name == "command":
            given = decorator.kwargs.get("name", decorator.args[0] if decorator.args else None)
            word = given if isinstance(given, str) else function.node.name.lower().replace("_", "-")
            app.commands[word] = (function, decorator.kwargs)
        elif decorator.callee.name == "callback":
            app.callback = function
            app.callback_about.update(decorator.kwargs)
        else:
            return
        self.findings.functions.add(function.node.name)

    def _follow(self, call):
        if id(call.callee) in self._applications:
            self._applications[id(call.callee)].is_called = True
        elif isinstance(call.callee, Made) and call.args and isinstance(call.args[0], Function):
            self._register(call.callee, call.args[0])
        elif (app := self._application(call.callee)) is not None:
            if call.callee.name == "add_typer":
                self._add_part(app, call)
            elif call.callee.name == "__call__":
                app.is_called = True

    def _add_part(self, app, call):
        part = self._applications.get(id(call.args[0])) if call.args else None
        if part is None:
            self.findings.remark(call.line, "add_typer", "the application that is added is not defined in this script", True)
            return
        part.is_part = True
        word = call.kwargs.get("name", part.made.kwargs.get("name"))
        if isinstance(word, str):
            app.parts[word] = part
        else:
            # Its commands are as if they were of the application around it.
            app.commands.update(part.commands)

    def _add_commands(self, app, words, before):
        if app.is_one_command and not words:
            ((function, about),) = app.commands.values()
            self._add_command(function, about, words, before)
            return
        own = []
        if app.callback is not None:
            own = before_word(read_parameters(app.callback, self._trace, self.findings), len(words), self.findings)
            if app.callback_about.get("invoke_without_command") is True:
                self._add_command(app.callback, app.callback_about, words, before)
        for word, (function, about) in app.commands.items():
            self._add_command(function, about, [*words, word], [*before, *own])
        for word, part in app.parts.items():
            self._add_commands(part, [*words, word], [*before, *own])

    def _add_command(self, function, about, words, before):
        if about.get("hidden") is True:
            self.findings.remark(function.node.lineno, function.node.name, "the script's own help hides it", True)
            return
        text = about["help"] if isinstance(about.get("help"), str) else docstring_of(function.node)
        command = Command(words, text.partition("\f")[0].strip(), function.node.lineno)
        command.parameters = read_parameters(function, self._trace, self.findings)
        command.before = before
        self.findings.commands.append(command)
