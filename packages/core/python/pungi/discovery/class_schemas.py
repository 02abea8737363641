"""Converts a class to JSON Schema: dataclass, TypedDict, NamedTuple, attrs class, pydantic model, Enum."""

import dataclasses
import enum
import sys
import typing

from ..calls.signatures import annotations_of, module_names
from . import pydantic_schemas
from .docstrings import parse_docstring
from .known_types import NotJson
from .literals import read_enum
from .metadata import Metadata
from .plain_values import Unknown, plain_value

_SCALARS = (str, int, float, bytes)
_NOTHING = object()
_MAX_FIELDS = 1000


class Field:
    """One field: its hint and default (_NOTHING: none, or none that can be written), and the class that declares it."""

    def __init__(self, name, hint, is_required, default=_NOTHING, owner=None, description=None):
        self.name, self.hint, self.is_required, self.default = name, hint, is_required, default
        self.owner, self.description = owner, description


def read_class(reader, kind, arguments):
    """Raises NotJson for a class that only code can build."""
    name = kind.__qualname__.rpartition("<locals>.")[2]
    if issubclass(kind, enum.Enum):
        return reader.named(name, lambda: _described(read_enum(reader, kind), _own_doc(kind)))
    if is_pydantic(kind):
        return pydantic_schemas.read_model(reader, kind[arguments] if arguments else kind)
    fields = _fields_of(kind, reader.is_result)
    if fields is not None:
        variables = dict(zip(getattr(kind, "__parameters__", ()), arguments))
        with reader.within(module_names(kind) or reader.names, variables):
            return reader.named(reader.key(name, arguments), lambda: _as_object(reader, kind, fields))
    base = next((base for base in _SCALARS if issubclass(kind, base)), None)
    if base is not None:
        return reader.read(base)
    if getattr(kind, "_is_protocol", False) or kind.__module__ == reader.names.get("__name__"):
        known = "dataclass, TypedDict, NamedTuple, Enum, model or attrs class"
        raise NotJson(f"{name} is a class that only code can build: it is no {known}")
    return reader.read_foreign(kind)


def is_pydantic(kind):
    return hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__")


def is_data(kind):
    """Whether the class holds data that can be given as JSON, rather than behaviour."""
    return issubclass(kind, (enum.Enum, *_SCALARS)) or is_pydantic(kind) or _fields_of(kind, False) is not None


def _fields_of(kind, is_result):
    """Returns None for a class that does not declare fields."""
    if hasattr(kind, "__required_keys__") and hasattr(kind, "__total__"):
        return _typed_dict_fields(kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass_fields(kind, is_result)
    if hasattr(kind, "__attrs_attrs__"):
        return _attrs_fields(kind)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        defaults, hints = kind._field_defaults, {}
        for base in reversed(kind.__mro__):
            hints.update(annotations_of(base) if "__annotations__" in vars(base) else {})
        return [Field(name, hints.get(name, object), name not in defaults, defaults.get(name, _NOTHING)) for name in kind._fields]
    return None


def _typed_dict_fields(kind):
    found = {}
    for name, hint in annotations_of(kind).items():
        owner = next((base for base in getattr(kind, "__orig_bases__", ()) if name in getattr(base, "__annotations__", {})), kind)
        found[name] = Field(name, hint, _is_required(kind, name, hint), owner=owner)
    return list(found.values())


def _is_required(kind, name, hint):
    """Finds Required in string annotations, which Python ignores, and in all annotations before Python 3.11."""
    while (marker := getattr(typing.get_origin(hint), "_name", None)) in ("Required", "NotRequired", "ReadOnly"):
        if marker != "ReadOnly":
            return marker == "Required"
        (hint,) = typing.get_args(hint)
    text = hint if isinstance(hint, str) else getattr(hint, "__forward_arg__", "")
    if "NotRequired[" in text:
        return False
    return True if "Required[" in text else name in kind.__required_keys__


def _dataclass_fields(kind, is_result):
    found = []
    for field in kind.__dataclass_fields__.values():
        if str(field._field_type) == "_FIELD_CLASSVAR" or not (field.init or is_result):
            continue
        if is_result and str(field._field_type) == "_FIELD_INITVAR":
            continue
        has_factory = field.default_factory is not dataclasses.MISSING
        default = _NOTHING if field.default is dataclasses.MISSING else field.default
        is_required = default is _NOTHING and not has_factory
        owner = next((base for base in kind.__mro__ if field.name in annotations_of(base)), kind)
        found.append(Field(field.name, field.type, is_required, default, owner, field.metadata.get("description")))
    return found


def _attrs_fields(kind):
    nothing = sys.modules["attr"].NOTHING
    found = []
    for each in kind.__attrs_attrs__:
        if not each.init:
            continue
        is_factory = type(each.default).__name__ == "Factory"
        default = _NOTHING if each.default is nothing or is_factory else each.default
        name = getattr(each, "alias", None) or each.name.lstrip("_")
        found.append(Field(name, object if each.type is None else each.type, each.default is nothing, default))
    return found


def _as_object(reader, kind, fields):
    docstring = parse_docstring(_own_doc(kind))
    texts = docstring.parameters | reader.docs(kind)
    if len(fields) > _MAX_FIELDS:
        raise NotJson(f"{kind.__qualname__} is too large a class")
    properties, required = {}, []
    for field in fields:
        schema = _read_field(reader, field)
        if schema is None:
            continue
        text = field.description or texts.get(field.name)
        if isinstance(text, str) and text and "description" not in schema:
            schema = schema | {"description": text}
        properties[field.name] = schema
        if field.is_required:
            required.append(field.name)
    schema = {"type": "object", "properties": properties} | ({"required": required} if required else {})
    # A constructor has no parameter for additional properties.
    if not reader.is_result:
        schema["additionalProperties"] = False
    return _described(schema, docstring.description)


def _read_field(reader, field):
    """Returns None for a field that JSON cannot express and that has a default."""
    names = module_names(field.owner) if field.owner is not None else None
    metadata = Metadata()
    try:
        with reader.within(names or reader.names):
            if hasattr(field.default, "get_default") and hasattr(field.default, "metadata"):
                metadata.read(field.default)  # a Field of pydantic in a dataclass
            schema = metadata.apply(reader.inner(field.hint))
    except NotJson as error:
        if field.is_required:
            raise
        reader.doubt(f"{error}, so that {field.name} is left out")
        return None
    if field.default is not _NOTHING:
        try:
            schema = schema | {"default": plain_value(field.default)}
        except Unknown:
            pass
    return schema


def _own_doc(kind):
    """Returns the docstring of the class itself, not one that Python generates or a base class has."""
    text = vars(kind).get("__doc__")
    if not isinstance(text, str) or text.startswith(f"{kind.__name__}(") or text in _GENERATED:
        return ""
    return parse_docstring(text).description if issubclass(kind, enum.Enum) else text


_GENERATED = {"An enumeration.", dict.__doc__, enum.Enum.__doc__, typing.NamedTuple.__doc__}


def _described(schema, text):
    return schema | {"description": text} if text else schema
