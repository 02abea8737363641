"""Converts JSON to an instance of a class: enumerations, dataclasses, named tuples, models, arrays."""

import sys

from .signatures import annotations_of, module_names
from .scalars import NOT_A_TEXT, PLAIN_TYPES, Unfit, plain_value, text_value
from .texts import decode_as
from .words import cut_shown, describe_actual, not_known


def is_class(hint):
    return isinstance(hint, type) and not hasattr(hint, "__origin__")


def build_class(kind, value, path, convert):
    """`convert(hint, value, names, path)` converts the values of fields."""
    if kind in PLAIN_TYPES:
        return plain_value(kind, value, path)
    if hasattr(kind, "__required_keys__") and hasattr(kind, "__total__"):
        return _typed_dict(kind, value, path, convert)
    if issubclass(type(value), kind):
        return value
    if issubclass(kind, sys.modules["enum"].Enum):
        return _enum_member(kind, value, path)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple(kind, value, path, convert)
    if hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__"):
        return _pydantic(kind, value, path)
    if hasattr(kind, "__dataclass_fields__"):
        return _dataclass(kind, value, path, convert)
    if hasattr(kind, "__attrs_attrs__"):
        return _attrs_class(kind, value, path, convert)
    made = text_value(kind, value, path)
    return _other_class(kind, value, path) if made is NOT_A_TEXT else made


def _enum_member(kind, value, path):
    try:
        return kind(value)
    except Exception:
        pass
    members = list(kind.__members__.items())
    if type(value) is str:
        for name, member in members:
            if name == value or (type(member.value) in (int, float, bool) and str(member.value) == value):
                return member
    for _, member in members:
        if type(member.value) is tuple and list(member.value) == value:
            return member
    shown = ", ".join(cut_shown(repr(member.value)) for _, member in members[:20])
    raise Unfit(path, f"expected one of {shown}, got {describe_actual(value)}")


def _entries_of(kind, value, path):
    if type(value) is dict:
        return value
    try:
        return decode_as(dict, value)
    except (ValueError, RecursionError):
        raise Unfit(path, f"expected an object for {kind.__name__}, got {describe_actual(value)}") from None


def _convert_fields(kind, hints, required, value, path, convert):
    entries, names = _entries_of(kind, value, path), module_names(kind)
    for name in entries:
        if name not in hints:
            raise Unfit((*path, name), not_known(name, list(hints)))
    for name in required:
        if name not in entries:
            raise Unfit((*path, name), "is missing")
    return {
        name: each if hints[name] is None else convert(hints[name], each, names, (*path, name))
        for name, each in entries.items()
    }


def _constructed(kind, fields, path):
    """Creates the object. The class may validate its fields and raise any exception."""
    try:
        return kind(**fields)
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        raise Unfit(path, f"cannot be made a {kind.__name__}: {type(error).__name__}: {cut_shown(str(error), 300)}") from error


def _typed_dict(kind, value, path, convert):
    # The annotations of a TypedDict include those that it inherits.
    return _convert_fields(kind, annotations_of(kind), kind.__required_keys__, value, path, convert)


def _named_tuple(kind, value, path, convert):
    hints = {name: None for name in kind._fields} | annotations_of(kind)
    if type(value) is str:
        try:
            value = decode_as(list, value)
        except (ValueError, RecursionError):
            pass
    if type(value) is list:
        if len(value) > len(kind._fields):
            raise Unfit(path, f"expected a list of {len(kind._fields)}, got {describe_actual(value)}")
        value = dict(zip(kind._fields, value))
    required = [name for name in kind._fields if name not in kind._field_defaults]
    return _constructed(kind, _convert_fields(kind, hints, required, value, path, convert), path)


def _dataclass(kind, value, path, convert):
    nothing = sys.modules["dataclasses"].MISSING
    fields = [field for field in kind.__dataclass_fields__.values() if field.init and _is_taken(field)]
    required = [field.name for field in fields if field.default is nothing and field.default_factory is nothing]
    hints = {field.name: getattr(field.type, "type", field.type) if _is_init_only(field) else field.type for field in fields}
    return _constructed(kind, _convert_fields(kind, hints, required, value, path, convert), path)


def _is_taken(field):
    return str(field._field_type) != "_FIELD_CLASSVAR"


def _is_init_only(field):
    return str(field._field_type) == "_FIELD_INITVAR"


def _attrs_class(kind, value, path, convert):
    fields = [each for each in kind.__attrs_attrs__ if each.init]
    names = {each.name: getattr(each, "alias", None) or each.name.lstrip("_") for each in fields}
    nothing = sys.modules["attr"].NOTHING
    required = [names[each.name] for each in fields if each.default is nothing]
    hints = {names[each.name]: each.type for each in fields}
    return _constructed(kind, _convert_fields(kind, hints, required, value, path, convert), path)


def _pydantic(kind, value, path):
    if hasattr(kind, "model_validate"):
        validate = kind.model_validate
    elif hasattr(kind, "parse_obj"):
        validate = kind.parse_obj
    else:
        validate = sys.modules["pydantic"].TypeAdapter(kind).validate_python
    try:
        value = decode_as(dict, value)
    except (ValueError, RecursionError):
        pass
    return validate_by_pydantic(validate, value, path)


def validate_by_pydantic(validate, value, path):
    try:
        return validate(value)
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        try:
            first = error.errors()[0]
            where, reason, value = first["loc"], first["msg"], first.get("input", value)
        except Exception:
            where, reason = (), f"{type(error).__name__}: {error}"
        raise Unfit((*path, *where), f"is not accepted: {cut_shown(reason, 300)}; got {describe_actual(value)}") from error


def _other_class(kind, value, path):
    """Converts lists to tables and arrays, and plain values to subclasses of their types. Returns any other value unchanged."""
    base = next((base for base in (str, int, float, bytes) if issubclass(kind, base)), None)
    try:
        if base is not None:
            return kind(plain_value(base, value, path))
        return _of_package(kind, value)
    except (Unfit, RecursionError, MemoryError):
        raise
    except Exception as error:
        raise Unfit(path, f"cannot be made a {kind.__name__}: {cut_shown(str(error), 300)}") from None


def _of_package(kind, value):
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if kind is getattr(numpy, "ndarray", None):
        return numpy.asarray(value) if type(value) is list else value
    if numpy is not None and issubclass(kind, getattr(numpy, "generic", ())):
        return kind(value)
    if kind in (getattr(pandas, "DataFrame", None), getattr(pandas, "Series", None)):
        return kind(value) if type(value) in (list, dict) else value
    return value
