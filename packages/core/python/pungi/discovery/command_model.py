"""A command line as data: its commands and their parameters, and the tools that they become."""

import re

from .static_values import UNKNOWN, is_plain

_LONGEST_DEFAULT = 1000
_LONGEST_NAME = 120


class Parameter:
    """`takes` and `when_false` are what the contract calls them; `schema` is of one value, or of the whole for switches."""

    def __init__(self, name, flag, takes, schema, line):
        self.name, self.flag, self.takes, self.schema, self.line = name, flag, takes, schema, line
        self.when_false = None
        self.is_required = False
        self.default = UNKNOWN
        self.description = ""
        self.size = {}
        # Of a switch of argparse: the name that it sets, whether to false, and what that is without it.
        self.dest, self.turns_off, self.initial = None, False, False

    def as_schema(self):
        schema = dict(self.schema)
        if self.takes in ("many", "each"):
            schema = {"type": "array", **({"items": schema} if schema else {}), **self.size}
        if self.description:
            schema["description"] = self.description
        if not self.is_required and self.has_default:
            schema["default"] = self.default
        return schema

    @property
    def has_default(self):
        is_known = self.default is not UNKNOWN and self.default is not None and is_plain(self.default)
        return is_known and len(repr(self.default)) <= _LONGEST_DEFAULT


class Command:
    """`words`: of the subcommand. `before`: (parameter, number of the word that it comes before), of the commands above.
    `parser`: the library that reads it."""

    def __init__(self, words, description, line):
        self.words, self.description, self.line = list(words), description, line
        self.parameters = []
        self.before = []
        self.parser = None


class Findings:
    """What one way of defining command lines gives; `functions`: those that are commands, and no tools of their own."""

    def __init__(self):
        self.commands, self.remarks, self.functions = [], [], set()

    def remark(self, line, name, reason, is_skipped=False):
        sentence = reason[:1].upper() + reason[1:] + ("" if reason.endswith(".") else ".")
        self.remarks.append({"line": line, "name": name, "reason": sentence, "isSkipped": is_skipped})


def before_word(parameters, number, findings):
    """Those of a command above that can be said before a word of a subcommand, with the number of that word."""
    kept = []
    for parameter in parameters:
        if parameter.flag is None:
            reason = "it is a word before that of a subcommand, where only options can be said"
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


def tool_of(command, name, reads_stdin):
    """As the contract has it."""
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


def tool_name(*words):
    """A valid name of a tool out of the script's name and the words of a subcommand."""
    parts = [re.sub(r"[^A-Za-z0-9_-]+", "_", word).strip("_") for word in words]
    return "_".join(part for part in parts if part)[:_LONGEST_NAME] or "script"


def parameter_name(text):
    """What clients are to write, for a flag or a positional word."""
    return re.sub(r"\W+", "_", text.lstrip("-+/")).strip("_") or "value"


def longest_flag(flags):
    """The one that explains itself: the first of the long ones."""
    return next((flag for flag in flags if flag.startswith("--")), flags[0])


def sentences(*texts):
    """Joined, with a full stop between those that lack one."""
    kept = [text.strip() for text in texts if text and text.strip()]
    return " ".join(text if text[-1] in ".!?:;" or text is kept[-1] else f"{text}." for text in kept)
