"""One `add_argument(…)` as a parameter."""

import ast
import re

from .command_model import Parameter, longest_flag, parameter_name, switch
from .command_types import TEXT, choices_of, schema_of
from .static_values import UNKNOWN, EnumMember, Function, Made, Reference, items_of

_SWITCHES = {"store_true", "store_false", "store_const", "append_const"}
_SILENT = {"help", "version"}
_LISTS = {"append", "extend"}
_NUMBERS = {"argparse.OPTIONAL": "?", "argparse.ZERO_OR_MORE": "*", "argparse.ONE_OR_MORE": "+"}
_PLACE = re.compile(r"%\((\w+)\)[#0\- +]*\d*(?:\.\d+)?[sdrif]|%%")


class Unreadable(Exception):
    """Why an option cannot be told; `name` is what is known of it."""

    def __init__(self, name, reason):
        super().__init__(reason)
        self.name = name


def read_argument(call, parser, findings):
    """A parameter, or None for what is no matter of arguments. Raises Unreadable."""
    names = _names(call)
    about = dict(call.kwargs)
    flags = [name for name in names if name[:1] in parser.prefixes]
    dest = _dest(names, flags, about)
    if "**" in about:
        raise Unreadable(dest, "its keywords are known only when the script runs")
    action = _action(about.get("action", "store"), dest, findings, call.line)
    if action in _SILENT:
        return None
    if _is_suppressed(about.get("help")):
        raise Unreadable(dest, "the script's own help hides it")
    parameter = _shape(action, names, flags, dest, about, call.line, findings)
    parameter.default = _default(parser, about, parameter, call, findings)
    parameter.is_required = parameter.is_required or bool(flags) and about.get("required") is True
    parameter.description = _help(about, parameter, call, parser)
    return parameter


def _names(call):
    names = [name for name in call.args if isinstance(name, str)]
    if len(names) < len(call.args) or not names and not isinstance(call.kwargs.get("dest"), str):
        raise Unreadable(names[0] if names else "add_argument", "its name is known only when the script runs")
    return names or [call.kwargs["dest"]]


def _dest(names, flags, about):
    if isinstance(about.get("dest"), str) and flags:
        return about["dest"]
    return parameter_name(longest_flag(flags) if flags else names[0])


def _action(value, dest, findings, line):
    if isinstance(value, str):
        return value
    if isinstance(value, Reference) and value.name == "argparse.BooleanOptionalAction":
        return "boolean"
    findings.remark(line, dest, "its action is the script's own; it is taken to store a value")
    return "store"


def _shape(action, names, flags, dest, about, line, findings):
    flag = longest_flag(flags) if flags else None
    if action == "boolean":
        return switch(dest, flag, line, f"--no-{flag[2:]}" if flag and flag.startswith("--") else None)
    if action in _SWITCHES:
        # What is said is the flag, so the parameter means the flag, and not what the script makes of it.
        parameter = switch(parameter_name(flag) if action != "store_true" else dest, flag, line)
        parameter.dest = dest
        parameter.turns_off = action == "store_false"
        return parameter
    if action == "count":
        return Parameter(dest, flag, "count", {"type": "integer", "minimum": 0}, line)
    parameter = Parameter(dest, flag, "one", _schema(about, dest, line, findings), line)
    _count_values(parameter, action, flags, about.get("nargs"), findings)
    if about.get("nargs") == "?" and flags and "const" in about:
        findings.remark(line, dest, f"{flag} without a value, which stands for {_words(about['const'])}, cannot be asked for")
    return parameter


def _schema(about, dest, line, findings):
    kind = about.get("type")
    schema = schema_of(kind) or dict(TEXT)
    if isinstance(kind, Reference) and kind.name == "bool":
        findings.remark(line, dest, "with type=bool every text but the empty one is true, so it is a text")
        schema = dict(TEXT)
    if about.get("choices") is not None:
        chosen = choices_of(about["choices"])
        if chosen is None:
            findings.remark(line, dest, "its choices are known only when the script runs")
        elif "type" in schema and chosen.get("type") in (schema["type"], "string", "integer"):
            schema = chosen if chosen["type"] == schema["type"] or schema["type"] != "string" else schema
    return schema


def _count_values(parameter, action, flags, nargs, findings):
    if isinstance(nargs, Reference):
        nargs = _NUMBERS.get(nargs.name, "...")
    if nargs is UNKNOWN:
        findings.remark(parameter.line, parameter.name, "how many values it takes is known only when the script runs")
        nargs = "*"
    is_remainder = nargs in ("...", "A...")
    if is_remainder or nargs in ("*", "+") or type(nargs) is int:
        parameter.takes = "many"
        if nargs == "+":
            parameter.size = {"minItems": 1}
        elif type(nargs) is int:
            parameter.size = {"minItems": nargs, "maxItems": nargs}
        if action == "append":
            reason = f"{parameter.flag} can be given once, and not repeated with other values"
            findings.remark(parameter.line, parameter.name, reason)
    elif action in _LISTS:
        parameter.takes = "each"
    parameter.is_required = not flags and nargs not in ("?", "*") and not is_remainder


def _default(parser, about, parameter, call, findings):
    value = parser.defaults.get(parameter.dest or parameter.name, about.get("default"))
    if parameter.takes == "nothing":
        parameter.initial = value if isinstance(value, bool) else parameter.turns_off
        return parameter.initial if parameter.when_false is not None else False
    if isinstance(value, EnumMember):
        value = value.value
    if value is UNKNOWN or isinstance(value, (Reference, Made)) and not _stands_for_nothing(value):
        if _path_text(value) is not None:
            return _path_text(value)
        findings.remark(call.line, parameter.name, "its default is known only when the script runs")
        return UNKNOWN
    return _converted(value, parameter)


def _converted(value, parameter):
    """argparse converts a default that is a text as if it had been given."""
    kind = parameter.schema.get("type")
    if parameter.takes == "one" and isinstance(value, str) and kind in ("integer", "number"):
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return UNKNOWN
    if parameter.takes in ("many", "each") and not isinstance(value, (list, tuple)):
        return UNKNOWN
    if parameter.takes == "one" and isinstance(value, (list, tuple, dict)) or isinstance(value, bool) and kind != "boolean":
        return UNKNOWN
    return list(value) if isinstance(value, tuple) else value


def _stands_for_nothing(value):
    return isinstance(value, Reference) and value.name in ("argparse.SUPPRESS", "sys.stdin", "sys.stdout", "sys.stderr")


def _path_text(value):
    is_path = isinstance(value, Made) and value.is_of("pathlib.Path", "pathlib.PurePath") and len(value.args) == 1
    return value.args[0] if is_path and isinstance(value.args[0], str) else None


def _is_suppressed(value):
    return value == "==SUPPRESS==" or isinstance(value, Reference) and value.name == "argparse.SUPPRESS"


def _help(about, parameter, call, parser):
    text = about.get("help")
    if not isinstance(text, str):
        return ""
    known = {
        "default": _shown_default(about, parameter, call), "prog": parser.program, "dest": parameter.name,
        "const": _words(about.get("const")), "metavar": _words(about.get("metavar")), "nargs": _words(about.get("nargs")),
        "type": _type_name(about.get("type")), "required": str(about.get("required", False)),
        "choices": ", ".join(map(str, items_of(about.get("choices")) or ())),
    }
    filled = _PLACE.sub(lambda match: "%" if match[0] == "%%" else known.get(match[1], match[0]), text)
    return re.sub(r"\s+", " ", filled).strip()


def _type_name(kind):
    return kind.node.name if isinstance(kind, Function) else getattr(kind, "name", "str")


def _shown_default(about, parameter, call):
    if isinstance(about.get("default"), (str, int, float, type(None))):
        return str(about.get("default", False if parameter.takes == "nothing" else None))
    if parameter.has_default:
        return str(parameter.default)
    node = next((keyword.value for keyword in call.node.keywords if keyword.arg == "default"), None)
    return "" if node is None else ast.unparse(node)[:200]


def _words(value):
    return "" if value is None or value is UNKNOWN else str(getattr(value, "name", value))[:200]
