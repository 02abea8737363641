"""The parameters of a function as the schema of a tool's arguments."""

import ast

from .annotations import TypeReader
from .annotations_definitions import with_definitions
from .annotations_known import NotJson
from .annotations_metadata import FIELDS, Metadata
from .defaults import Unknown, evaluate
from .docstrings_types import annotation_of

_NULL = {"type": "null"}


class Refused(Exception):
    """The function is no tool: where, what and why."""

    def __init__(self, line, name, reason):
        super().__init__(reason)
        self.line, self.name, self.reason = line, name, reason


def read(definition, names, docstring):
    """(the schema, the doubts as (line, name, reason)). Raises Refused."""
    doubts = []
    arguments = definition.args
    properties, required = {}, []
    reader = TypeReader(names)
    parameters = getattr(definition, "type_params", None)
    with reader.variables.bound(reader.variables.parameters_of(None, parameters) if parameters else (), ()):
        unpacked = _read_unpacked(definition, reader, doubts)
        _check_kinds(definition, unpacked is not None, doubts)
        for argument, default in _named(arguments):
            schema, is_required = _read_one(definition, argument, default, reader, docstring, doubts)
            if schema is None:
                continue
            properties[argument.arg] = schema
            if is_required:
                required.append(argument.arg)
    if unpacked is not None:
        required += [name for name in unpacked.get("required", ()) if name not in properties]
        properties = properties | {name: each for name, each in unpacked["properties"].items() if name not in properties}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return with_definitions(schema, reader.definitions), doubts


def _read_unpacked(definition, reader, doubts):
    """Of `**options: Unpack[Options]` the schema of that class, whose fields are arguments like any other; None without it."""
    argument = definition.args.kwarg
    hint = argument.annotation if argument else None
    if not isinstance(hint, ast.Subscript) or reader.names.outside_name(hint.value) != "typing.Unpack":
        return None
    try:
        schema = reader.read_whole(hint.slice)
    except NotJson:
        return None
    doubts += [(argument.lineno, f"{definition.name}(**{argument.arg})", doubt) for doubt in reader.doubts]
    del reader.doubts[:]
    schema = reader.definitions.get(schema.get("$ref", "").rpartition("/")[2], schema)
    return schema if isinstance(schema.get("properties"), dict) else None


def _check_kinds(definition, is_unpacked, doubts):
    """What has no name of its own has no place in a schema."""
    arguments = definition.args
    named = is_unpacked or [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for star, argument in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if argument is None or (is_unpacked and argument is arguments.kwarg):
            continue
        label = f"{definition.name}({star}{argument.arg})"
        if not named:
            reason = f"It takes nothing but {star}{argument.arg}, for which no schema can be written"
            raise Refused(argument.lineno, label, reason)
        doubts.append((argument.lineno, label, f"No schema can be written for {star}{argument.arg}: it is left out"))


def _named(arguments):
    """(argument, default) of each one, in their order. A call gives those that are positional-only by their position."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    return [*zip(positional, [None] * missing + arguments.defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]


def _label(definition, argument):
    return f"{definition.name}({argument.arg})"


def _read_one(definition, argument, default, reader, docstring, doubts):
    """(its schema, or None where it is left out; whether it must be given)."""
    label, metadata = _label(definition, argument), Metadata()
    is_required = default is None
    if isinstance(default, ast.Call) and reader.names.outside_name(default) in FIELDS:
        metadata.read(default, reader.names)
        is_required, default = not metadata.has_default, metadata.default
    before = len(reader.doubts)
    try:
        schema = metadata.apply(_type_of(argument, docstring, reader))
    except NotJson as error:
        if is_required:
            raise Refused(argument.lineno, label, str(error)) from None
        doubts.append((argument.lineno, label, f"{error}: it is left out and keeps its default"))
        return None, False
    for doubt in reader.doubts[before:]:
        doubts.append((argument.lineno, label, f"{doubt}: anything is accepted" if schema == {} else doubt))
    del reader.doubts[:]
    schema = _with_default(schema, default, reader.names)
    text = docstring.parameters.get(argument.arg)
    if text and not schema.get("description"):
        schema = schema | {"description": text}
    return schema, is_required


def _type_of(argument, docstring, reader):
    if argument.annotation is not None:
        return reader.read_whole(argument.annotation)
    said = docstring.types.get(argument.arg)
    node = annotation_of(said) if said else None
    return reader.read_whole(node) if node is not None else {}


def _with_default(schema, default, names):
    if default is None:
        return schema
    try:
        value = evaluate(default, names)
    except Unknown:
        return schema
    if value is None and not _takes_null(schema):
        # "count: int = None" means what it does, whatever the type says.
        schema = {"anyOf": [*schema.get("anyOf", [_bare(schema)]), _NULL]} | _words(schema)
    return schema | {"default": value}


def _takes_null(schema):
    is_null = schema.get("type") == "null" or None in schema.get("enum", ())
    return is_null or not _bare(schema) or _NULL in schema.get("anyOf", ())


_WORDS = ("title", "description", "examples", "deprecated")


def _words(schema):
    return {key: schema[key] for key in _WORDS if key in schema}


def _bare(schema):
    return {key: value for key, value in schema.items() if key not in _WORDS}
