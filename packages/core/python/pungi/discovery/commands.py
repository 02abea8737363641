"""A command line as data: its commands and their parameters, and the tools that they become."""

import re

from .plain_values import Unknown, plain_value
from .remarks import remark

_LONGEST_DEFAULT = 1000
UNKNOWN = object()


class Parameter:
    """`takes` and `when_false` are what the contract calls them; `schema` is of one value, or of the whole for switches."""

    def __init__(self, name, flag, takes, schema, line):
        self.name, self.flag, self.takes, self.schema, self.line = name, flag, takes, schema, line
        self.when_false = None
        self.is_required = False
        self.default = UNKNOWN
        self.description = ""
        self.size = {}
        # Of a switch of argparse: the name that it sets, whether to false, and its value without the switch.
        self.dest, self.turns_off, self.initial = None, False, False

    def as_schema(self):
        schema = dict(self.schema)
        if self.takes in ("many", "each"):
            schema = {"type": "array", **({"items": schema} if schema else {}), **self.size}
        if self.description:
            schema["description"] = self.description
        default = self._plain_default()
        if not self.is_required and default is not None:
            schema["default"] = default
        return schema

    def _plain_default(self):
        try:
            value = None if self.default is UNKNOWN else plain_value(self.default)
        except Unknown:
            return None
        return value if len(repr(value)) <= _LONGEST_DEFAULT else None


class Command:
    """`words`: of the subcommand. `before`: (parameter, number of the word that it comes before), of the commands above.
    `parser`: the library that reads it."""

    def __init__(self, words, description, line, parser=None):
        self.words, self.description, self.line, self.parser = list(words), description, line, parser
        self.parameters, self.before = [], []


class Findings:
    """The commands of one parser; `functions`: names of functions that serve it, and are no tools of their own; `callbacks`: of
    those that are its commands."""

    def __init__(self):
        self.commands, self.remarks, self.functions, self.callbacks = [], [], set(), set()

    def remark(self, line, name, reason, is_skipped=False):
        self.remarks.append(remark(line, name, reason[:1].upper() + reason[1:], is_skipped))


def before_word(parameters, number, findings):
    """Those of a command above that can be given before a word of a subcommand, with the number of that word."""
    kept = []
    for parameter in parameters:
        if parameter.flag is None:
            reason = "it is a word before that of a subcommand, where only options can be given"
            findings.remark(parameter.line, parameter.name, reason, is_skipped=True)
        elif parameter.takes == "many" and "maxItems" not in parameter.size:
            reason = "it takes any number of values, and so would take the subcommand as well"
            findings.remark(parameter.line, parameter.name, reason, is_skipped=True)
        else:
            kept.append((parameter, number))
    return kept


def switch(name, flag, line, when_false=None):
    parameter = Parameter(name, flag, "nothing", {"type": "boolean"}, line)
    parameter.when_false = when_false
    parameter.default = False
    return parameter


def tool_of(command, name, reads_stdin, entry=None):
    """Returns the tool in the form of the contract."""
    properties, required, argv = {}, [], []
    for parameter, before in [*command.before, *((each, None) for each in command.parameters)]:
        key = _unused(parameter.name, properties)
        properties[key] = parameter.as_schema()
        if parameter.is_required:
            required.append(key)
        argv.append(_rule(key, parameter, before))
    stdin = None
    if reads_stdin:
        stdin = _unused("stdin", properties)
        properties[stdin] = {"type": "string", "description": "What the script reads from standard input."}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return {
        "kind": "script", "command": command.words, "argv": argv, "parser": command.parser, "stdin": stdin,
        **({"entry": entry} if entry else {}),
        "name": name, "description": command.description, "inputSchema": schema, "outputSchema": None, "line": command.line,
        "source": {
            "description": command.description,
            "parameters": {key: about["description"] for key, about in properties.items() if about.get("description")},
        },
    }


def _rule(key, parameter, before):
    rule = {"parameter": key, "flag": parameter.flag, "takes": parameter.takes}
    if parameter.when_false is not None:
        rule["whenFalse"] = parameter.when_false
    if before is not None:
        rule["before"] = before
    return rule


def _unused(name, taken):
    number, unused = 2, name
    while unused in taken:
        unused, number = f"{name}_{number}", number + 1
    return unused


def parameter_name(text):
    """Derives a parameter name from a flag or a positional word."""
    return re.sub(r"\W+", "_", text.lstrip("-+/")).strip("_") or "value"


def longest_flag(flags):
    """Chooses the most descriptive flag: the first long one."""
    return next((flag for flag in flags if flag.startswith("--")), flags[0])


def sentences(*texts):
    """Joins texts, with a full stop between those that lack one."""
    kept = [text.strip() for text in texts if text and text.strip()]
    return " ".join(text if text[-1] in ".!?:;" or text is kept[-1] else f"{text}." for text in kept)


def one_line(text):
    return re.sub(r"\s+", " ", text).strip() if isinstance(text, str) else ""
