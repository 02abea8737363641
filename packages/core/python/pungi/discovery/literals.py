"""Fixed values: Literal["a", "b"] and the members of an Enum."""

import enum

from .plain_values import Unknown, plain_value

_KINDS = ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (type(None), "null"))
_MAX_VALUES = 1000


def read_literal(reader, arguments):
    try:
        values = _unique(plain_value(each) for each in arguments[: _MAX_VALUES + 1])
    except Unknown:
        return reader.doubt("Not every value of the Literal is plain data")
    if len(values) > _MAX_VALUES:
        return reader.doubt("The Literal has too many values")
    return {"const": values[0], **type_of(values)} if len(values) == 1 else {"enum": values, **type_of(values)}


def read_enum(reader, kind):
    """Lists the values of the members, or their names if the values are not plain data."""
    if issubclass(kind, enum.Flag):
        return {"type": "integer"}
    members = kind.__members__
    if not members:
        return reader.doubt(f"{kind.__qualname__} has no members")
    if len(members) > _MAX_VALUES:
        return reader.doubt(f"{kind.__qualname__} has too many members")
    try:
        values = _unique(plain_value(member.value) for member in members.values())
    except Unknown:
        values = None
    if values is not None and (reader.is_result or not any(isinstance(value, (list, dict)) for value in values)):
        return {"enum": values, **type_of(values)}
    return {} if reader.is_result else {"enum": list(members), "type": "string"}


def _unique(values):
    """1 and True are equal in Python and different in JSON."""
    return list({(type(value), repr(value)): value for value in values}.values())


def type_of(values):
    kinds = {next((kind for cls, kind in _KINDS if isinstance(value, cls)), None) for value in values}
    return {"type": kinds.pop()} if len(kinds) == 1 and None not in kinds else {}
