"""JSON Schemas for the converters of command lines. An unknown converter gets a text."""

import enum

from .known_types import BOOLEAN, INTEGER, NUMBER, PATH, STRING, text
from .literals import type_of
from .plain_values import Unknown, plain_value

_MOST_CHOICES = 500
_JSON_TEXT = {"type": "string", "contentMediaType": "application/json"}
_BY_NAME = {
    "builtins.int": INTEGER, "builtins.float": NUMBER, "builtins.bool": BOOLEAN, "builtins.str": STRING, "decimal.Decimal": NUMBER,
    "pathlib.Path": PATH, "pathlib.PurePath": PATH, "pathlib.PosixPath": PATH, "io.open": PATH, "_io.open": PATH,
    "builtins.open": PATH, "posixpath.abspath": PATH, "posixpath.expanduser": PATH, "posixpath.realpath": PATH,
    "posixpath.normpath": PATH, "ntpath.abspath": PATH, "argparse.FileType": PATH,
    "datetime.datetime": text("date-time"), "datetime.datetime.fromisoformat": text("date-time"), "datetime.date": text("date"),
    "datetime.date.fromisoformat": text("date"), "datetime.time.fromisoformat": text("time"), "uuid.UUID": text("uuid"),
    "ipaddress.IPv4Address": text("ipv4"), "ipaddress.IPv6Address": text("ipv6"), "json.loads": _JSON_TEXT,
}


def schema_of(converter):
    """Returns the schema of one value."""
    if isinstance(converter, type) and issubclass(converter, enum.Enum):
        return choices_of([member.value for member in converter]) or dict(STRING)
    known = _BY_NAME.get(_name_of(converter))
    if known is None:
        # A converter of the script may annotate what it returns.
        returns = getattr(converter, "__annotations__", {}).get("return")
        known = {int: INTEGER, "int": INTEGER, float: NUMBER, "float": NUMBER}.get(returns if _is_hashable(returns) else None)
    return dict(known or STRING)


def _is_hashable(value):
    return isinstance(value, (str, type))


def _name_of(converter):
    if type(converter).__name__ == "FileType":
        return "argparse.FileType"
    owner = getattr(converter, "__self__", None)
    if isinstance(owner, type):
        return f"{owner.__module__}.{owner.__qualname__}.{converter.__name__}"
    module = str(getattr(converter, "__module__", "")).removesuffix("._local")
    return f"{module}.{getattr(converter, '__qualname__', '')}"


def choices_of(values):
    """Returns None if the choices are not plain data, or too many."""
    if isinstance(values, range):
        if values.step == 1 and len(values) > 20:
            return {"type": "integer", "minimum": values.start, "maximum": values.stop - 1}
    try:
        found = [plain_value(each) for _, each in zip(range(_MOST_CHOICES + 1), values)]
    except (Unknown, TypeError):
        return None
    if not 0 < len(found) <= _MOST_CHOICES:
        return None
    return {**type_of(found), "enum": found}
