"""A parser of optparse as a command, by its options. Words that are no options are one list: optparse does not declare them."""

import optparse

from .commands import UNKNOWN, Command, Findings, Parameter, longest_flag, one_line, parameter_name, switch
from .converters import choices_of
from .known_types import INTEGER, NUMBER, STRING
from .module import dedent
from .plain_values import Unknown, plain_value

_SILENT = ("help", "version")
_SWITCHES = ("store_true", "store_false", "store_const", "append_const")
_TYPES = {"int": INTEGER, "long": INTEGER, "float": NUMBER}


def read(parser, lines):
    """`lines`: {id of a parser or option: the line that adds it}."""
    findings = Findings()
    line = lines.get(id(parser), 1)
    usage = one_line(parser.expand_prog_name(parser.usage or ""))
    command = Command([], dedent(parser.expand_prog_name(parser.description or "")), line, "optparse")
    for option in _options(parser):
        parameter = _read(option, parser, lines.get(id(option), line), findings)
        if parameter is not None:
            command.parameters.append(parameter)
    command.parameters.append(_words(usage, line))
    findings.commands.append(command)
    return findings


def _options(parser):
    return [option for owner in (parser, *parser.option_groups) for option in owner.option_list]


def _words(usage, line):
    words = Parameter("args", None, "many", dict(STRING), line)
    words.description = f"The words beside its options. Usage: {usage}" if usage else "The words beside its options."
    return words


def _read(option, parser, line, findings):
    """None for what is no matter of arguments."""
    flag = longest_flag([*option._long_opts, *option._short_opts])
    dest = parameter_name(option.dest or flag)
    if option.action in _SILENT:
        return None
    if option.help == optparse.SUPPRESS_HELP:
        findings.remark(line, dest, "the script's own help hides it", is_skipped=True)
        return None
    findings.functions.add(getattr(option.callback, "__name__", ""))
    parameter = _shape(option, flag, dest, line)
    if parameter.takes != "nothing":
        parameter.default = _default(option, parser, parameter)
    parameter.description = _help(option, parser)
    return parameter


def _shape(option, flag, dest, line):
    if option.action in _SWITCHES or not option.takes_value() and option.action != "count":
        # The caller gives the flag, so the parameter means the flag, and not what the program makes of it.
        return switch(dest if option.action == "store_true" else parameter_name(flag), flag, line)
    if option.action == "count":
        return Parameter(dest, flag, "count", {"type": "integer", "minimum": 0}, line)
    schema = choices_of(option.choices) if option.type == "choice" else None
    parameter = Parameter(dest, flag, "one", schema or dict(_TYPES.get(option.type, STRING)), line)
    if (option.nargs or 1) > 1:
        parameter.takes, parameter.size = "many", {"minItems": option.nargs, "maxItems": option.nargs}
    elif option.action == "append":
        parameter.takes = "each"
    return parameter


def _default(option, parser, parameter):
    """optparse converts a default that is a text as if it had been given."""
    value = parser.defaults.get(option.dest)
    try:
        if isinstance(value, str) and parameter.takes == "one":
            value = option.check_value(option.get_opt_string(), value)
        value = plain_value(value)
    except (Unknown, optparse.OptionError, optparse.OptionValueError):
        return UNKNOWN
    is_list = isinstance(value, list)
    return UNKNOWN if value is None or is_list != (parameter.takes in ("many", "each")) else value


def _help(option, parser):
    """With its default filled in, as optparse fills it."""
    if not isinstance(option.help, str):
        return ""
    try:
        parser.formatter.set_parser(parser)
        return one_line(parser.formatter.expand_default(option))
    except Exception:
        return one_line(option.help)
