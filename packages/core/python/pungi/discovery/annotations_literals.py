"""Fixed values: Literal["a", "b"] and the members of an Enum."""

import ast

from .classes_enums import UNKNOWN_VALUE, enum_members, is_flag
from .defaults import Unknown, evaluate
from .names import Inside

_KINDS = ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (type(None), "null"))
_MAX_VALUES = 1000


def read_literal(reader, arguments):
    try:
        values = _unique(evaluate(each, reader.names) for each in _flat(reader.names, arguments))
    except Unknown:
        return reader.doubt("Not every value of the Literal can be known by reading")
    if len(values) > _MAX_VALUES:
        return reader.doubt("The Literal has too many values")
    if len(values) == 1:
        return {"const": values[0], **_type_of(values)}
    return {"enum": values, **_type_of(values)}


def read_enum(reader, definition, name):
    """By value. Where values are no plain JSON the members' names stand for them."""
    if is_flag(definition, reader.names):
        return {"type": "integer"}
    members = enum_members(definition, reader.names)
    if not members:
        return reader.doubt(f"{name} has no members that reading alone can know")
    if len(members) > _MAX_VALUES:
        return reader.doubt(f"{name} has too many members")
    values = _unique(members.values())
    if all(value is None or isinstance(value, (str, int, float)) for value in values):
        return {"enum": values, **_type_of(values)}
    if any(value is UNKNOWN_VALUE for value in values) and reader.is_result:
        return {}
    return {"enum": values, **_type_of(values)} if reader.is_result else {"enum": list(members), "type": "string"}


def _flat(names, arguments, depth=0):
    """Literal[Literal["a"], Known], where Known is a Literal too."""
    for each in arguments[: _MAX_VALUES + 1]:
        meaning = names.resolve(each)
        inner = each
        if isinstance(meaning, Inside) and isinstance(meaning.node, ast.Subscript):
            inner = meaning.node
        if isinstance(inner, ast.Subscript) and names.outside_name(inner.value) == "typing.Literal" and depth < 10:
            yield from _flat(names, inner.slice.elts if isinstance(inner.slice, ast.Tuple) else [inner.slice], depth + 1)
        else:
            yield each


def _unique(values):
    """1 and True are equal in Python and different in JSON."""
    return list({(type(value), repr(value)): value for value in values}.values())


def _type_of(values):
    kinds = {next((kind for cls, kind in _KINDS if isinstance(value, cls)), None) for value in values}
    return {"type": kinds.pop()} if len(kinds) == 1 and None not in kinds else {}
