"""Reads the commands of click and typer from their parameter objects."""

import datetime
import inspect
import typing

from .commands import Command, Findings, Parameter, before_word, longest_flag, one_line, parameter_name, sentences, switch
from .converters import choices_of, schema_of
from .known_types import BOOLEAN, INTEGER, NUMBER, PATH, STRING, text

# By the names of click's classes: typer and asyncclick have their own copies of them.
_TYPES = {
    "IntParamType": INTEGER, "FloatParamType": NUMBER, "BoolParamType": BOOLEAN, "StringParamType": STRING,
    "UUIDParameterType": text("uuid"), "Path": PATH, "TyperPath": PATH, "File": PATH, "UnprocessedParamType": STRING,
    "IntRange": INTEGER, "FloatRange": NUMBER,
}
# typer adds them to every application.
_COMPLETION = {"install_completion", "show_completion"}
_MOST_COMMANDS, _DEEPEST = 500, 10


def read(command, program, lines):
    """`lines(function)`: where a function is defined."""
    reading = _Reading(lines, program)
    reading.add_commands(command, [], [])
    return reading.findings


class _Reading:
    def __init__(self, lines, program):
        self.findings = Findings()
        self._lines, self._program = lines, program

    def add_commands(self, command, words, before):
        function = inspect.unwrap(command.callback) if command.callback is not None else None
        line = self._lines(function)
        if function is not None:
            self.findings.callbacks.add(function.__name__)
        name = words[-1] if words else self._program
        if command.hidden:
            self.findings.remark(line, getattr(function, "__name__", name), "the script's own help hides it", is_skipped=True)
            return
        if len(self.findings.commands) >= _MOST_COMMANDS or len(words) > _DEEPEST:
            return
        if getattr(command, "chain", False):
            reason = "its subcommands may be chained; each of them is a tool of its own"
            self.findings.remark(line, getattr(function, "__name__", name), reason)
        parameters = [each for each in (self._read(param, line) for param in command.params) if each is not None]
        children = _children(command)
        if children is None or getattr(command, "invoke_without_command", False):
            self._add(command, words, line, parameters, before)
        if children:
            own = before_word(parameters, len(words), self.findings)
            for word, child in children.items():
                self.add_commands(child, [*words, word], [*before, *own])

    def _add(self, command, words, line, parameters, before):
        description = command.help or getattr(command, "short_help", None) or ""
        description = inspect.cleandoc(description).partition("\f")[0].replace("\b\n", "").strip()
        is_typer = type(command).__module__.startswith("typer")
        found = Command(words, description, line, "typer" if is_typer else "click")
        found.parameters, found.before = parameters, before
        self.findings.commands.append(found)

    def _read(self, param, line):
        """Returns None for a parameter that callers do not give."""
        is_option = getattr(param, "param_type_name", "") == "option"
        if is_option and not param.expose_value and param.is_flag and param.prompt:
            return _confirmation(param, line)
        if not param.expose_value and (param.is_eager or param.name in _COMPLETION):
            return None
        if getattr(param, "hidden", False):
            self.findings.remark(line, param.name, "the script's own help hides it", is_skipped=True)
            return None
        parameter = self._option(param, line) if is_option else self._argument(param, line)
        parameter.description = _describe(param)
        self._set_default(parameter, param)
        return parameter

    def _option(self, param, line):
        flag = longest_flag(param.opts) if param.opts else None
        if flag is None or not flag.startswith(("-", "/", "+")):
            # It can only be turned off: the parameter stands for that.
            flag = longest_flag(param.secondary_opts)
            return switch(parameter_name(flag).lower(), flag, line)
        if param.count:
            return Parameter(param.name, flag, "count", {"type": "integer", "minimum": 0}, line)
        if param.is_flag:
            off = longest_flag(param.secondary_opts) if param.secondary_opts else None
            is_value = not getattr(param, "is_bool_flag", True)
            parameter = switch(parameter_name(flag) if is_value else param.name, flag, line, off)
        else:
            parameter = self._valued(param, flag, line)
        # Nobody can answer a prompt.
        must_be_asked = bool(param.prompt) and getattr(param, "prompt_required", True)
        is_asked = must_be_asked and _default_of(param) is None and parameter.takes == "one"
        parameter.is_required = bool(param.required) or is_asked
        return parameter

    def _argument(self, param, line):
        parameter = self._valued(param, None, line)
        parameter.name = parameter_name(param.name)
        parameter.is_required = bool(param.required)
        if param.nargs == -1:
            parameter.takes, parameter.size = "many", {"minItems": 1} if parameter.is_required else {}
        return parameter

    def _valued(self, param, flag, line):
        schema, parts = _types_of(param)
        parameter = Parameter(param.name, flag, "one", schema, line)
        if parts or param.nargs > 1:
            _take_several(parameter, parts, param.nargs)
        if param.multiple:
            if parameter.takes == "many":
                reason = "each use of it takes several values: it can be given once"
                self.findings.remark(line, param.name, reason)
            else:
                parameter.takes = "each"
        return parameter

    def _set_default(self, parameter, param):
        default = _default_of(param)
        if parameter.takes == "nothing":
            parameter.default = default is True and parameter.when_false is not None
            return
        if callable(default):
            self.findings.remark(parameter.line, parameter.name, "its default is known only when the script runs")
            return
        is_list = isinstance(default, (list, tuple))
        if default is not None and is_list == (parameter.takes in ("many", "each")):
            parameter.default = default


def _children(command):
    """Returns {word: command}; None for a command that is not a group."""
    if not hasattr(command, "list_commands"):
        return None
    found = {}
    for word, child in (getattr(command, "commands", None) or {}).items():
        found[word] = child
    return found


def _default_of(param):
    """Returns None also for the sentinels of click and typer that mean "no default"."""
    default = param.default
    return None if type(default).__name__ == "Sentinel" or default is ... else default


def _confirmation(param, line):
    """The confirmation option of click, which prompts; callers must give it instead."""
    parameter = switch(param.name, longest_flag(param.opts), line)
    parameter.description = "Confirms, since nobody is there to be asked."
    parameter.is_required = True
    return parameter


def _take_several(parameter, parts, nargs):
    number = len(parts) or nargs
    parameter.takes, parameter.size = "many", {"minItems": number, "maxItems": number}
    if parts and any(part != parts[0] for part in parts):
        parameter.size["prefixItems"], parameter.schema = parts, {}
    elif parts:
        parameter.schema = parts[0]


def _types_of(param):
    """(the schema of one value, those of the parts of a tuple)"""
    if not hasattr(param, "type"):
        return _types_of_hint(param)
    return _schema_of(param.type), [_schema_of(each) for each in getattr(param.type, "types", ())]


def _types_of_hint(param):
    """Reads the type hint, which typer keeps in place of a click type."""
    hint = param.type_descriptor.annotation
    inner = typing.get_args(hint)
    if param.multiple or param.nargs == -1:
        hint, inner = (inner or (str,))[0], ()
    if typing.get_origin(hint) is tuple and inner[-1:] != (...,):
        return dict(STRING), [schema_of(each) for each in inner]
    if typing.get_origin(hint) is typing.Literal:
        return choices_of(typing.get_args(hint)) or dict(STRING), []
    if getattr(param.type_descriptor, "file_annotation", None) is not None:
        return dict(PATH), []
    own = param.type_descriptor.parameter_info
    if getattr(own, "parser", None) or getattr(own, "click_type", None) or hint is datetime.datetime:
        return dict(STRING), []
    schema = schema_of(hint)
    if schema.get("type") in ("integer", "number"):
        bounds = {"minimum": param.min, "maximum": param.max}
        schema |= {key: value for key, value in bounds.items() if value is not None}
    return schema, []


def _schema_of(kind):
    name = type(kind).__name__
    if hasattr(kind, "choices"):
        return choices_of(list(kind.choices)) or dict(STRING)
    if name in ("IntRange", "FloatRange"):
        return dict(_TYPES[name]) | _range(kind)
    if name == "FuncParamType":
        return schema_of(kind.func)
    return dict(_TYPES.get(name, STRING))


def _range(kind):
    bounds = {}
    if kind.min is not None:
        bounds["exclusiveMinimum" if kind.min_open else "minimum"] = kind.min
    if kind.max is not None:
        bounds["exclusiveMaximum" if kind.max_open else "maximum"] = kind.max
    return bounds


def _describe(param):
    variables = getattr(param, "envvar", None)
    variables = [variables] if isinstance(variables, str) else [each for each in variables or () if isinstance(each, str)]
    variable_note = f"Also set by the environment variable {', '.join(variables)}." if variables else ""
    kind = type(param.type).__name__ if hasattr(param, "type") else param.type_descriptor.annotation
    dates = "Such as 2024-01-31 or 2024-01-31T12:00:00." if kind in ("DateTime", datetime.datetime) else ""
    return sentences(one_line(getattr(param, "help", None)), dates, variable_note)
