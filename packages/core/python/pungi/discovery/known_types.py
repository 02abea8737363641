"""Types that a schema can express by itself, and types that JSON can never carry."""

import sys

STRING, INTEGER, NUMBER, BOOLEAN, NULL = ({"type": kind} for kind in ("string", "integer", "number", "boolean", "null"))


def text(form):
    return {"type": "string", "format": form}


PATH = text("path")
# A number or a text goes in; a text comes out, which loses nothing.
_EXACT = {"anyOf": [NUMBER, STRING]}
# A list of rows, or an object of columns.
_TABLE = {"anyOf": [{"type": "array"}, {"type": "object"}]}
_ROWS = {"type": "array", "items": {"type": "object"}}

# By the name that a module has for them; a module that is not loaded has no part in a hint.
_PLAIN = {
    "builtins": {
        "int": INTEGER, "float": NUMBER, "bool": BOOLEAN, "str": STRING, "object": {}, "bytes": text("binary"),
        "bytearray": text("binary"), "memoryview": text("binary"), "complex": _EXACT,
    },
    "typing": {
        "Any": {}, "Hashable": {}, "Text": STRING, "LiteralString": STRING, "AnyStr": STRING, "SupportsInt": NUMBER,
        "SupportsFloat": NUMBER, "SupportsIndex": INTEGER, "Pattern": text("regex"),
    },
    "typing_extensions": {"Any": {}, "LiteralString": STRING},
    "collections.abc": {"Hashable": {}, "ByteString": text("binary"), "Buffer": text("binary")},
    "numbers": {"Number": NUMBER, "Real": NUMBER, "Integral": INTEGER, "Rational": NUMBER},
    "datetime": {
        "datetime": text("date-time"), "date": text("date"), "time": text("time"), "timedelta": text("duration"),
    },
    "zoneinfo": {"ZoneInfo": STRING}, "io": {"BytesIO": text("binary")}, "uuid": {"UUID": text("uuid")},
    "decimal": {"Decimal": _EXACT}, "fractions": {"Fraction": {"anyOf": [NUMBER, text("fraction")]}},
    "pathlib": dict.fromkeys(
        ("Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"), PATH,
    ),
    "os": {"PathLike": PATH}, "re": {"Pattern": text("regex")},
    "ipaddress": {
        f"IPv{version}{kind}": text(f"ipv{version}{form}")
        for version in (4, 6) for kind, form in (("Address", ""), ("Interface", "interface"), ("Network", "network"))
    },
    "numpy": {
        **dict.fromkeys(("int8", "int16", "int32", "int64", "integer"), INTEGER),
        **dict.fromkeys(("float16", "float32", "float64", "floating"), NUMBER),
        "bool_": BOOLEAN, "str_": STRING, "ndarray": {"type": "array"},
    },
    "pandas": {"DataFrame": _TABLE, "Series": _TABLE}, "polars": {"DataFrame": _TABLE},
}
# The value that comes out is written differently from what may go in.
_PLAIN_RESULT = {
    "decimal": {"Decimal": STRING}, "fractions": {"Fraction": text("fraction")},
    "builtins": {"range": {"type": "array", "items": INTEGER}},
    "pandas": {"DataFrame": _ROWS}, "polars": {"DataFrame": _ROWS},
}
# These come out as they are shown to people, if at all.
_NO_RESULT = {
    "builtins": ("complex",), "zoneinfo": ("ZoneInfo",), "numpy": ("ndarray",), "pandas": ("Series",),
    "pydantic": ("SecretStr", "AnyUrl", "AnyHttpUrl", "HttpUrl", "FileUrl", "NameEmail"),
}
# Classes of other packages whose objects only running code can make.
_MADE_BY_CODE = (
    "PIL.", "matplotlib.", "plotly.", "fastmcp.server.", "mcp.server.", "click.core.Context", "typer.models.Context",
    "typer._click.core.Context", "sqlalchemy.", "requests.sessions.Session", "httpx.", "torch.nn.", "flask.",
    "starlette.requests.",
)
_PICTURES = ("PIL.", "matplotlib.", "fastmcp.utilities.types.", "mcp.types.", "plotly.")


class NotJson(Exception):
    """No JSON value can be of this type; the message gives the reason."""


class KnownTypes:
    """The tables above with the live types of the modules that are loaded."""

    def __init__(self, is_result):
        self._plain = _live(_PLAIN) | (_live(_PLAIN_RESULT) if is_result else {})
        self._no_result = set(_live({module: dict.fromkeys(names) for module, names in _NO_RESULT.items()})) if is_result else ()

    def schema_of(self, hint):
        """A schema, or None where the tables do not know it. Raises NotJson for what has no place in a result."""
        if hasattr(hint, "__origin__"):
            return None  # the hash of nested generics goes through all of their parts, again and again
        try:
            if hint in self._no_result:
                raise NotJson(f"A {name_of(hint)} has no place in a result")
            found = self._plain.get(hint)
        except TypeError:  # not hashable
            return None
        return None if found is None else dict(found)


def _live(table):
    return {
        getattr(sys.modules[module], name): schema
        for module, names in table.items() if module in sys.modules
        for name, schema in names.items() if hasattr(sys.modules[module], name)
    }


def name_of(hint):
    """As its module calls it: "threading.Lock", "int"."""
    module, name = getattr(hint, "__module__", None), getattr(hint, "__qualname__", None) or getattr(hint, "_name", None)
    if not isinstance(name, str):
        return type(hint).__name__ if hasattr(hint, "__origin__") else repr(hint)[:80]
    return name if module in (None, "builtins") else f"{module}.{name}"[:200]


def cannot_be_json(kind):
    """Classes of the standard library that no table knows are handles, locks, functions: nothing that a text can express."""
    name = name_of(kind)
    top = name.partition(".")[0] if "." in name else "builtins"
    return top.lstrip("_") in sys.stdlib_module_names or top in sys.stdlib_module_names or name.startswith(_MADE_BY_CODE)


def is_picture(kind):
    return name_of(kind).startswith(_PICTURES)
