"""Types of the standard library and of pydantic that a schema can say by itself, and those that JSON can never bring."""

_STRING, _INTEGER, _NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def _text(form):
    return {"type": "string", "format": form}


_PATH, _URL = _text("path"), {"type": "string", "format": "uri", "minLength": 1}
# On the way in a number or a text; on the way out a text, which loses nothing.
_EXACT = {"anyOf": [{"type": "number"}, {"type": "string"}]}
# A list of rows, or an object of columns.
_TABLE = {"anyOf": [{"type": "array"}, {"type": "object"}]}

PLAIN = {
    "builtins.int": _INTEGER, "builtins.float": _NUMBER, "builtins.bool": {"type": "boolean"}, "builtins.str": _STRING,
    "builtins.None": {"type": "null"}, "types.NoneType": {"type": "null"}, "typing.Any": {}, "builtins.object": {},
    "typing.Hashable": {}, "typing.Text": _STRING, "typing.LiteralString": _STRING, "typing.AnyStr": _STRING,
    "builtins.bytes": _text("binary"), "builtins.bytearray": _text("binary"), "typing.ByteString": _text("binary"),
    "numbers.Number": _NUMBER, "numbers.Real": _NUMBER, "numbers.Integral": _INTEGER, "numbers.Rational": _NUMBER,
    "typing.SupportsInt": _NUMBER, "typing.SupportsFloat": _NUMBER, "typing.SupportsIndex": _INTEGER,
    "datetime.datetime": _text("date-time"), "datetime.date": _text("date"), "datetime.time": _text("time"),
    "datetime.timedelta": _text("duration"),
    "builtins.complex": _EXACT, "zoneinfo.ZoneInfo": _STRING, "builtins.memoryview": _text("binary"),
    "io.BytesIO": _text("binary"),
    "uuid.UUID": _text("uuid"), "decimal.Decimal": _EXACT,
    "fractions.Fraction": {"anyOf": [{"type": "number"}, _text("fraction")]},
    "pathlib.Path": _PATH, "pathlib.PurePath": _PATH, "pathlib.PosixPath": _PATH, "pathlib.PurePosixPath": _PATH,
    "pathlib.WindowsPath": _PATH, "pathlib.PureWindowsPath": _PATH, "os.PathLike": _PATH,
    "re.Pattern": _text("regex"), "typing.Pattern": _text("regex"),
    "ipaddress.IPv4Address": _text("ipv4"), "ipaddress.IPv6Address": _text("ipv6"),
    "ipaddress.IPv4Interface": _text("ipv4interface"), "ipaddress.IPv6Interface": _text("ipv6interface"),
    "ipaddress.IPv4Network": _text("ipv4network"), "ipaddress.IPv6Network": _text("ipv6network"),
    "numpy.int8": _INTEGER, "numpy.int16": _INTEGER, "numpy.int32": _INTEGER, "numpy.int64": _INTEGER,
    "numpy.integer": _INTEGER,
    "numpy.float16": _NUMBER, "numpy.float32": _NUMBER, "numpy.float64": _NUMBER, "numpy.floating": _NUMBER,
    "numpy.bool_": {"type": "boolean"}, "numpy.str_": _STRING,
    "numpy.ndarray": {"type": "array"}, "numpy.typing.NDArray": {"type": "array"},
    "pandas.DataFrame": _TABLE, "pandas.Series": _TABLE,
    "pydantic.StrictInt": _INTEGER, "pydantic.StrictFloat": _NUMBER, "pydantic.StrictStr": _STRING,
    "pydantic.StrictBool": {"type": "boolean"}, "pydantic.FiniteFloat": _NUMBER,
    "pydantic.PositiveInt": _INTEGER | {"exclusiveMinimum": 0}, "pydantic.NegativeInt": _INTEGER | {"exclusiveMaximum": 0},
    "pydantic.NonNegativeInt": _INTEGER | {"minimum": 0}, "pydantic.NonPositiveInt": _INTEGER | {"maximum": 0},
    "pydantic.PositiveFloat": _NUMBER | {"exclusiveMinimum": 0}, "pydantic.NegativeFloat": _NUMBER | {"exclusiveMaximum": 0},
    "pydantic.NonNegativeFloat": _NUMBER | {"minimum": 0}, "pydantic.NonPositiveFloat": _NUMBER | {"maximum": 0},
    "pydantic.EmailStr": _text("email"), "pydantic.NameEmail": _text("name-email"), "pydantic.SecretStr": _text("password"),
    "pydantic.AnyUrl": _URL, "pydantic.AnyHttpUrl": _URL, "pydantic.HttpUrl": _URL | {"maxLength": 2083},
    "pydantic.FileUrl": _URL,
    "pydantic.FilePath": _text("file-path"), "pydantic.DirectoryPath": _text("directory-path"), "pydantic.NewPath": _PATH,
    "pydantic.UUID1": _text("uuid1"), "pydantic.UUID3": _text("uuid3"), "pydantic.UUID4": _text("uuid4"),
    "pydantic.UUID5": _text("uuid5"), "pydantic.PastDate": _text("date"), "pydantic.FutureDate": _text("date"),
    "pydantic.PastDatetime": _text("date-time"), "pydantic.FutureDatetime": _text("date-time"),
    "pydantic.AwareDatetime": _text("date-time"), "pydantic.NaiveDatetime": _text("date-time"), "pydantic.JsonValue": {},
    "pydantic.IPvAnyAddress": _text("ipvanyaddress"), "pydantic.Base64Str": _text("base64"),
    "pydantic.Base64Bytes": _text("base64"),
}
# Where the value that comes out is written otherwise than what may come in.
PLAIN_RESULT = {
    "decimal.Decimal": _STRING, "fractions.Fraction": _text("fraction"), "builtins.range": {"type": "array", "items": _INTEGER},
    "pandas.DataFrame": {"type": "array", "items": {"type": "object"}},
    "polars.DataFrame": {"type": "array", "items": {"type": "object"}},
}
# These come out as they are shown to people, if at all.
NO_RESULT = {
    "builtins.complex", "zoneinfo.ZoneInfo", "numpy.ndarray", "numpy.typing.NDArray", "pandas.DataFrame", "pandas.Series",
    "pydantic.SecretStr", "pydantic.AnyUrl", "pydantic.AnyHttpUrl", "pydantic.HttpUrl", "pydantic.FileUrl",
    "pydantic.NameEmail",
} - set(PLAIN_RESULT)

LISTS = {
    "builtins.list", "typing.List", "typing.Sequence", "typing.MutableSequence", "typing.Iterable", "typing.Collection",
    "typing.Container", "typing.Reversible", "collections.deque", "typing.Deque", "typing.Iterator", "pydantic.conlist",
}
SETS = {
    "builtins.set", "builtins.frozenset", "typing.Set", "typing.FrozenSet", "typing.AbstractSet", "typing.MutableSet",
    "pydantic.conset", "pydantic.confrozenset",
}
TUPLES = {"builtins.tuple", "typing.Tuple"}
MAPPINGS = {
    "builtins.dict", "typing.Dict", "typing.Mapping", "typing.MutableMapping", "collections.OrderedDict", "typing.OrderedDict",
    "collections.defaultdict", "typing.DefaultDict", "types.MappingProxyType", "collections.UserDict", "collections.ChainMap",
    "typing.ChainMap",
}
COUNTERS = {"collections.Counter", "typing.Counter"}
# A call gathers what they yield; nothing of the kind can be given to one.
STREAMS = {"typing.Generator", "typing.AsyncIterator", "typing.AsyncGenerator", "typing.AsyncIterable"}
AWAITABLES = {"typing.Awaitable": 0, "typing.Coroutine": 2, "asyncio.Future": 0, "asyncio.Task": 0}
# They say something of the type within, which a schema leaves unsaid.
WRAPPERS = {
    "typing.Final", "typing.ClassVar", "typing.Required", "typing.NotRequired", "typing.ReadOnly", "dataclasses.InitVar",
    "typing.TypeGuard", "typing.TypeIs", "pydantic.SkipValidation",
}
CONSTRAINED = {
    "pydantic.conint": _INTEGER, "pydantic.confloat": _NUMBER, "pydantic.constr": _STRING, "pydantic.conbytes": _text("binary"),
    "pydantic.condecimal": _EXACT, "pydantic.condate": _text("date"),
}

# Things of other packages that only running code can make.
_MADE_BY_CODE = (
    "PIL.", "matplotlib.", "plotly.", "fastmcp.Context", "fastmcp.server.", "mcp.server.", "click.Context", "typer.Context",
    "sqlalchemy.", "requests.Session", "httpx.Client", "httpx.AsyncClient", "torch.nn.", "flask.", "fastapi.Request",
)
_PICTURES = ("PIL.", "matplotlib.", "fastmcp.utilities.types.", "mcp.types.", "plotly.")


class NotJson(Exception):
    """Nothing that comes as JSON can be of this type. Says why."""


def cannot_be_json(name, is_standard):
    """Standard classes that no table above knows are handles, locks, functions: nothing that a text can stand for."""
    return is_standard or name.startswith(_MADE_BY_CODE)


def is_picture(name):
    return name.startswith(_PICTURES)
