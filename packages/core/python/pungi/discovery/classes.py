"""A class of the script as JSON Schema: dataclass, TypedDict, NamedTuple, pydantic model, Enum."""

import ast
import contextlib

from .annotations_known import NotJson
from .annotations_literals import read_enum
from .classes_enums import ENUMS, enum_base
from .classes_fields import MADE_TUPLES, fields_of, made_fields
from .classes_kinds import ONLY_CODE, ROOT_MODELS, base_named, kind_of
from .defaults import Unknown, evaluate
from .docstrings import parse_docstring
from .module import docstring_of

MADE_DICTS = {"typing.TypedDict"}


def read_class(reader, meaning, arguments):
    """Raises NotJson for a class that only code can build."""
    definition, name = meaning.node, meaning.name
    if enum_base(definition, reader.names):
        return reader.named(name, lambda: _described(read_enum(reader, definition, name), docstring_of(definition)))
    kind = kind_of(definition, reader.names)
    if kind in ("", ONLY_CODE):
        known = "dataclass, TypedDict, NamedTuple, Enum, model or attrs class"
        raise NotJson(f"{name} is a class that only code can build: it is no {known}")
    if kind == "unknown":
        return reader.doubt(f"{name} inherits from another module, which reading alone cannot know")
    if kind == "scalar":
        return reader.read(base_named(definition, reader.names))
    key = reader.key(name, arguments)
    with reader.variables.bound(_parameters(reader, definition, arguments), arguments):
        return reader.named(key, lambda: _read_fields(reader, definition, kind))


def is_made_by_call(names, call):
    return names.outside_name(call) in ENUMS | MADE_TUPLES | MADE_DICTS


def read_made(reader, meaning):
    """TypedDict("Options", {…}), namedtuple("Point", "x y"), Enum("Color", "RED GREEN")."""
    call, name = meaning.node, meaning.name
    if reader.names.outside_name(call) in ENUMS:
        return reader.named(name, lambda: read_enum(reader, call, name))
    is_dict = reader.names.outside_name(call) in MADE_DICTS
    fields = made_fields(call, reader.names)
    if fields is None:
        return reader.doubt(f"The fields of {name} are not known by reading alone")
    return reader.named(name, lambda: _as_object(reader, fields, "typeddict" if is_dict else "namedtuple"))


def _parameters(reader, definition, arguments):
    """Of class Box[T] or of class Box(Generic[T])."""
    type_parameters = getattr(definition, "type_params", None)
    if not arguments and not type_parameters:
        return ()
    generic = [
        each for each in definition.bases
        if isinstance(each, ast.Subscript) and reader.names.outside_name(each.value) in ("typing.Generic", "typing.Protocol")
    ]
    if type_parameters or generic:
        return reader.variables.parameters_of(generic[0].slice if generic else None, type_parameters)
    return [each for base in definition.bases for each in reader.variables.parameters_of(base, ())]


def _read_fields(reader, definition, kind):
    if kind == "model":
        root = next((each for each in definition.bases if isinstance(each, ast.Subscript)
                     and reader.names.outside_name(each.value) in ROOT_MODELS), None)
        if root is not None:
            return _described(reader.read(root.slice), docstring_of(definition))
    docstring = parse_docstring(docstring_of(definition))
    fields, settings = fields_of(definition, kind, reader)
    schema = _as_object(reader, fields, kind, docstring.parameters, settings)
    return _described(schema, docstring.description)


def _described(schema, text):
    return schema | {"description": text} if text else schema


def _as_object(reader, fields, kind, texts=None, settings=None):
    properties, required = {}, []
    for field in fields:
        if field.is_excluded if reader.is_result else not field.is_input:
            continue
        schema = _read_field(reader, field)
        if schema is None:
            continue
        text = field.text or (texts or {}).get(field.name)
        if text and "description" not in schema:
            schema = schema | {"description": text}
        name = field.output_name if reader.is_result else field.input_name
        properties[name] = schema
        if field.is_required:
            required.append(name)
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    extra = (settings or {}).get("extra")
    # A constructor has no parameter for what else might come; only a model, unless told otherwise, lets it pass.
    if extra == "forbid" or (kind != "model" and not reader.is_result):
        schema["additionalProperties"] = False
    elif extra == "allow":
        schema["additionalProperties"] = True
    return schema


def _read_field(reader, field):
    """None: JSON cannot bring it, and the class has it by itself."""
    try:
        with field.within(reader.variables):
            schema = field.metadata.apply(reader.inner(field.annotation))
    except NotJson as error:
        if field.is_required:
            raise
        reader.doubt(f"{error}, so that {field.name} is left out")
        return None
    if field.default is not None:
        with contextlib.suppress(Unknown):
            schema = schema | {"default": evaluate(field.default, reader.names)}
    return schema
