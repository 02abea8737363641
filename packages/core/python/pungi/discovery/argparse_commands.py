"""Reads the commands of an argparse parser from its actions."""

import argparse

from .commands import UNKNOWN, Command, Findings, Parameter, before_word, longest_flag, one_line, parameter_name, sentences, switch
from .converters import choices_of, schema_of
from .known_types import STRING
from .module import dedent
from .plain_values import Unknown, plain_value

_SWITCHES = ("_StoreTrueAction", "_StoreFalseAction", "_StoreConstAction", "_AppendConstAction")
_SILENT = ("_HelpAction", "_VersionAction")
_KNOWN = {"_StoreAction", "_AppendAction", "_ExtendAction", "_CountAction", "BooleanOptionalAction", *_SWITCHES}


def read(parser, lines, program, volatile=()):
    """`lines`: {id of an action or group: the line that adds it}; `volatile`: lines whose defaults differ from run to run."""
    return _Reading(lines, program, volatile).read(parser)


class _Reading:
    def __init__(self, lines, program, volatile):
        self.findings = Findings()
        self._lines, self._program, self._volatile = lines, program, volatile

    def read(self, parser):
        self._add_commands(parser, [], [], "")
        return self.findings

    def _line(self, thing):
        return self._lines.get(id(thing), 1)

    def _add_commands(self, parser, words, before, summary):
        if parser.fromfile_prefix_chars:
            reason = f"a value that begins with {parser.fromfile_prefix_chars!r} is read from the file of that name"
            self.findings.remark(self._line(parser), self._program, reason)
        parameters, by_action, branches = [], {}, None
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                branches = action
            elif parameter := self._read_action(action, parser):
                by_action[action] = _add(parameters, parameter)
        notes = self._note_groups(parser, by_action)
        if branches is not None and branches.choices:
            own = before_word(parameters, len(words), self.findings)
            for word, child, about in _children(branches):
                self._add_commands(child, [*words, word], [*before, *own], about)
            return
        command = Command(words, "\n\n".join(filter(None, [self._describe(parser, summary), *notes])), self._line(parser), "argparse")
        command.parameters, command.before = parameters, before
        self.findings.commands.append(command)

    def _describe(self, parser, summary):
        text = parser.description or summary
        handlers = [value for value in parser._defaults.values() if callable(value)]
        self.findings.functions |= {getattr(each, "__name__", "") for each in handlers}
        if not isinstance(text, str) or not text:
            text = next((each.__doc__ for each in handlers if each.__doc__), "") or ""
        return dedent(text).replace("%(prog)s", parser.prog or self._program)

    def _read_action(self, action, parser):
        """Returns None for an action that callers do not need, such as --help, or that the help hides."""
        kind = type(action).__name__
        flags = list(action.option_strings)
        dest = parameter_name(action.dest if action.dest != argparse.SUPPRESS else flags[0])
        line = self._line(action)
        if kind in _SILENT:
            return None
        if action.help == argparse.SUPPRESS and flags and not action.required:
            self.findings.remark(line, dest, "the script's own help hides it", is_skipped=True)
            return None
        if kind not in _KNOWN:
            self.findings.remark(line, dest, "its action is the script's own; it is taken to store a value")
        if getattr(action.type, "__code__", None) is not None:
            self.findings.functions.add(action.type.__name__)
        parameter = self._shape(action, kind, flags, dest, line)
        parameter.is_required = action.required if flags else parameter.is_required
        parameter.default = self._default(action, parameter, parser)
        parameter.description = _help(action, parser)
        return parameter

    def _shape(self, action, kind, flags, dest, line):
        flag = longest_flag(flags) if flags else None
        if kind == "BooleanOptionalAction":
            off = next((each for each in flags if each.startswith("--no-")), None)
            return switch(dest, longest_flag([each for each in flags if each != off]), line, off)
        if kind in _SWITCHES:
            # The parameter stands for the flag, not for the value that the script stores.
            parameter = switch(dest if kind == "_StoreTrueAction" else parameter_name(flag), flag, line)
            parameter.dest, parameter.turns_off = action.dest, kind == "_StoreFalseAction"
            return parameter
        if kind == "_CountAction":
            return Parameter(dest, flag, "count", {"type": "integer", "minimum": 0}, line)
        parameter = Parameter(dest, flag, "one", self._schema(action, dest, line), line)
        self._count_values(parameter, action, kind, flags)
        return parameter

    def _schema(self, action, dest, line):
        schema = schema_of(action.type) if action.type is not None else dict(STRING)
        if action.type is bool:
            self.findings.remark(line, dest, "with type=bool every text but the empty one is true, so it is a text")
            schema = dict(STRING)
        if action.choices is None:
            return schema
        chosen = choices_of(action.choices)
        if chosen is None:
            self.findings.remark(line, dest, "its choices are no plain data, or too many")
            return schema
        # Without a converter argparse compares a text with the choices, so choices of another type never match.
        return chosen if chosen.get("type") == schema.get("type") or schema.get("type") != "string" else schema

    def _count_values(self, parameter, action, kind, flags):
        nargs = action.nargs
        is_remainder = nargs in (argparse.REMAINDER, argparse.PARSER)
        if is_remainder or nargs in ("*", "+") or type(nargs) is int:
            parameter.takes = "many"
            parameter.size = {"minItems": 1} if nargs == "+" else {"minItems": nargs, "maxItems": nargs} if type(nargs) is int else {}
            if kind == "_AppendAction":
                reason = f"{parameter.flag} can be given once, and not repeated with other values"
                self.findings.remark(parameter.line, parameter.name, reason)
        elif kind in ("_AppendAction", "_ExtendAction"):
            parameter.takes = "each"
        if nargs == "?" and flags and action.const is not None:
            reason = f"{parameter.flag} without a value, which means {str(action.const)[:200]}, cannot be asked for"
            self.findings.remark(parameter.line, parameter.name, reason)
        parameter.is_required = not flags and nargs not in ("?", "*") and not is_remainder

    def _default(self, action, parameter, parser):
        value = parser._defaults.get(action.dest, action.default)
        if parameter.takes == "nothing":
            parameter.initial = value if isinstance(value, bool) else parameter.turns_off
            return parameter.initial if parameter.when_false is not None else False
        if self._line(action) in self._volatile:
            self.findings.remark(parameter.line, parameter.name, "its default is known only when the script runs")
            return UNKNOWN
        return _converted(value, parameter)

    def _note_groups(self, parser, by_action):
        """Returns sentences for the description, and adds one to each parameter of a group."""
        notes = []
        for group in parser._mutually_exclusive_groups:
            members = list(dict.fromkeys(by_action[action] for action in group._group_actions if action in by_action))
            if len(members) < 2:
                continue
            names = [parameter.name for parameter in members]
            for parameter in members:
                others = ", ".join(name for name in names if name != parameter.name)
                parameter.description = sentences(parameter.description, f"Not together with {others}.")
            listed = ", ".join(names)
            if group.required:
                notes.append(f"Exactly one of {listed} must be given.")
            reason = f"only one of {listed} may be given, which the schema does not say but the descriptions do"
            self.findings.remark(self._line(group), listed, reason)
        return notes


def _children(branches):
    """Yields (word, parser, help) of each subcommand, without aliases, which share its parser."""
    helps = {action.dest: action.help for action in branches._choices_actions}
    seen = set()
    for word, child in branches.choices.items():
        if id(child) not in seen and isinstance(word, str):
            seen.add(id(child))
            yield word, child, helps.get(word) or ""


def _add(parameters, parameter):
    """Merges `--color` and `--no-color`, which set the same name, into one parameter."""
    twin = next((each for each in parameters if _is_opposite(each, parameter)), None)
    if twin is None:
        parameters.append(parameter)
        return parameter
    on, off = (twin, parameter) if parameter.turns_off else (parameter, twin)
    on.when_false, on.name, on.default = off.flag, on.dest, twin.initial
    on.description = sentences(on.description, f"If not: {off.description}" if off.description else "")
    parameters[parameters.index(twin)] = on
    return on


def _is_opposite(one, other):
    are_switches = one.dest is not None and one.when_false is other.when_false is None
    return are_switches and one.dest == other.dest and one.turns_off != other.turns_off


def _converted(value, parameter):
    """Converts a default that is a text, as argparse does."""
    try:
        value = plain_value(value)
    except Unknown:
        return UNKNOWN
    kind = parameter.schema.get("type")
    if value is None or value == argparse.SUPPRESS:
        return UNKNOWN
    if parameter.takes == "one" and isinstance(value, str) and kind in ("integer", "number"):
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return UNKNOWN
    is_list = isinstance(value, (list, dict))
    if is_list != (parameter.takes in ("many", "each")) or isinstance(value, bool) and kind != "boolean":
        return UNKNOWN
    return value


def _help(action, parser):
    """Fills in the placeholders of a help text as argparse does."""
    if not isinstance(action.help, str) or action.help == argparse.SUPPRESS:
        return ""
    try:
        return one_line(parser._get_formatter()._expand_help(action))
    except Exception:
        return one_line(action.help)
