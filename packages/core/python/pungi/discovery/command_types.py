"""The types that command lines give their values, as JSON Schema. Whatever is not known is a text, which every word is."""

import ast

from .static_values import UNKNOWN, EnumClass, EnumMember, Function, Made, Reference, is_plain, items_of

TEXT, INTEGER, NUMBER, BOOLEAN = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}
PATH = {"type": "string", "format": "path"}
_TYPES = {
    "int": INTEGER, "float": NUMBER, "bool": BOOLEAN, "str": TEXT,
    "pathlib.Path": PATH, "pathlib.PurePath": PATH, "pathlib.PosixPath": PATH, "open": PATH, "io.open": PATH,
    "os.path.abspath": PATH, "os.path.expanduser": PATH, "os.path.realpath": PATH, "os.path.normpath": PATH,
    "datetime.datetime": {"type": "string", "format": "date-time"},
    "datetime.datetime.fromisoformat": {"type": "string", "format": "date-time"},
    "datetime.date": {"type": "string", "format": "date"},
    "datetime.date.fromisoformat": {"type": "string", "format": "date"},
    "datetime.time.fromisoformat": {"type": "string", "format": "time"}, "uuid.UUID": {"type": "string", "format": "uuid"},
    "decimal.Decimal": NUMBER, "ipaddress.IPv4Address": {"type": "string", "format": "ipv4"},
    "ipaddress.IPv6Address": {"type": "string", "format": "ipv6"},
    "json.loads": {"type": "string", "contentMediaType": "application/json"}, "argparse.FileType": PATH,
    "click.INT": INTEGER, "click.FLOAT": NUMBER, "click.BOOL": BOOLEAN, "click.STRING": TEXT, "click.UNPROCESSED": TEXT,
    "click.UUID": {"type": "string", "format": "uuid"}, "click.Path": PATH, "click.File": PATH, "click.DateTime": TEXT,
    "click.types.StringParamType": TEXT, "typer.FileText": PATH, "typer.FileTextWrite": PATH, "typer.FileBinaryRead": PATH,
    "typer.FileBinaryWrite": PATH,
}
_SAME_LIBRARY = {"rich_click": "click", "asyncclick": "click"}
_RANGES = {"click.IntRange": "integer", "click.FloatRange": "number"}


def canonical(name):
    root, dot, rest = name.partition(".")
    return _SAME_LIBRARY.get(root, root) + dot + rest


def schema_of(kind):
    """Of one value of such a type; None where the type is not known."""
    if isinstance(kind, dict):
        return kind  # told already
    if isinstance(kind, Made) and isinstance(kind.callee, Reference):
        return _schema_of_made(canonical(kind.callee.name), kind)
    if isinstance(kind, Reference):
        name = canonical(kind.name)
        return dict(_TYPES[name]) if name in _TYPES else {"type": _RANGES[name]} if name in _RANGES else None
    if isinstance(kind, EnumClass):
        return enum_of(kind.values) or dict(TEXT)
    if isinstance(kind, Function):
        return _schema_of_result(kind)
    if isinstance(kind, (list, tuple)):
        return choices_of(kind)
    return None


def _schema_of_made(name, made):
    if name == "click.Choice":
        return choices_of(made.args[0] if made.args else made.kwargs.get("choices", UNKNOWN)) or dict(TEXT)
    if name in _RANGES:
        return range_of(_RANGES[name], *_bounds(made), made.kwargs.get("min_open"), made.kwargs.get("max_open"))
    return dict(_TYPES[name]) if name in _TYPES else None


def _bounds(made):
    lowest, highest = [*made.args, None, None][:2]
    return made.kwargs.get("min", lowest), made.kwargs.get("max", highest)


def range_of(kind, lowest, highest, is_open_below=False, is_open_above=False):
    schema = {"type": kind}
    if isinstance(lowest, (int, float)):
        schema["exclusiveMinimum" if is_open_below is True else "minimum"] = lowest
    if isinstance(highest, (int, float)):
        schema["exclusiveMaximum" if is_open_above is True else "maximum"] = highest
    return schema


def _schema_of_result(function):
    """A converter of the script's own says what it makes by its annotation: then such a thing can be written for it."""
    returns = function.node.returns
    if isinstance(returns, ast.Name) and returns.id in ("int", "float"):
        return dict(_TYPES[returns.id])
    return dict(TEXT)


def choices_of(value):
    """Of the values that are allowed; None where they are not known."""
    if isinstance(value, range) and value.step == 1 and len(value) > 20:
        return {"type": "integer", "minimum": value.start, "maximum": value.stop - 1}
    items = items_of(value)
    if isinstance(value, Reference) or items is None or not items:
        return None
    return enum_of([item.value if isinstance(item, EnumMember) else item for item in items])


def enum_of(values):
    if not values or not is_plain(values) or len(values) > 500:
        return None
    for name, kinds in (("string", str), ("boolean", bool), ("integer", int), ("number", (int, float))):
        if all(isinstance(value, kinds) for value in values):
            return {"type": name, "enum": list(values)}
    return {"enum": list(values)}


def type_of_default(default):
    """A type that only the default tells of."""
    if isinstance(default, bool):
        return dict(BOOLEAN)
    if isinstance(default, int):
        return dict(INTEGER)
    return dict(NUMBER) if isinstance(default, float) else dict(TEXT)
