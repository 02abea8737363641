"""The members of an Enum and what their values are."""

import ast

from . import defaults
from .names import Inside

UNKNOWN_VALUE = object()
ENUMS = {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "enum.ReprEnum"}
_FLAGS = {"enum.Flag", "enum.IntFlag"}
_MAX_BASES = 20


def enum_base(definition, names, depth=0):
    """The full name of the Enum class that it comes from, such as "enum.StrEnum"; an empty text: it is none."""
    if isinstance(definition, ast.Call):
        name = names.outside_name(definition.func)
        return name if name in ENUMS else ""
    for base in getattr(definition, "bases", ()):
        name = names.outside_name(base)
        if name in ENUMS:
            return name
        meaning = names.resolve(base)
        if isinstance(meaning, Inside) and isinstance(meaning.node, ast.ClassDef) and depth < _MAX_BASES:
            found = enum_base(meaning.node, names, depth + 1)
            if found:
                return found
    return ""


def is_flag(definition, names):
    return enum_base(definition, names) in _FLAGS


def enum_members(definition, names):
    """Name to value, in their order; UNKNOWN_VALUE where reading does not tell. Nothing for what is no Enum."""
    if definition not in names.enums:
        names.enums[definition] = {}  # while its values are read they may name the class itself
        base = enum_base(definition, names)
        if base:
            names.enums[definition] = _read(definition, base, names)
    return names.enums[definition]


def _read(definition, base, names):
    members = {}
    pairs = _pairs_of_call(definition, names) if isinstance(definition, ast.Call) else _pairs_of_class(definition)
    for name, node in pairs:
        if node is None or names.outside_name(node) == "enum.auto":
            members[name] = _automatic(name, base, definition, names, list(members.values()))
            continue
        if names.outside_name(node) == "enum.nonmember":
            continue
        if names.outside_name(node) == "enum.member" and node.args:
            node = node.args[0]
        value = defaults.evaluate_or(node, names, UNKNOWN_VALUE)
        members[name] = value
    return members


def _pairs_of_class(definition):
    for statement in definition.body:
        if not isinstance(statement, ast.Assign) or isinstance(statement.value, ast.Lambda):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Name) and not target.id.startswith("_"):
                yield target.id, statement.value


def _pairs_of_call(call, names):
    """Enum("Color", "RED GREEN"), with a list, with pairs, with a dict."""
    members = call.args[1] if len(call.args) > 1 else next((each.value for each in call.keywords if each.arg == "names"), None)
    value = defaults.evaluate_or(members, names) if members is not None else None
    if isinstance(value, str):
        value = value.replace(",", " ").split()
    if isinstance(members, ast.Dict):
        return [(key.value, item) for key, item in zip(members.keys, members.values) if isinstance(key, ast.Constant)]
    if not isinstance(value, list):
        return []
    if all(isinstance(item, list) and len(item) == 2 for item in value):
        return [(str(item[0]), ast.Constant(item[1])) for item in value]
    return [(item, None) for item in value if isinstance(item, str)]


def _automatic(name, base, definition, names, before):
    if base == "enum.StrEnum":
        return name.lower()
    if any(names.outside_name(each) == "builtins.str" for each in getattr(definition, "bases", ())):
        return str(len(before) + 1)
    return _next_number(base, before)


def _next_number(base, before):
    if any(not isinstance(value, int) for value in before):
        return UNKNOWN_VALUE
    largest = max(before, default=0)
    if base in _FLAGS:
        return 1 << max(largest, 0).bit_length()
    return largest + 1
