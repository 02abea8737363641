"""The parameters of a function as the schema of a tool's arguments."""

import ast
import builtins
import inspect
import typing

from ..calls.signatures import ALL_NAMED, ALL_POSITIONAL, annotations_of, parameters_of
from .definitions import with_definitions
from .docstrings_types import hint_of
from .known_types import NULL, NotJson
from .metadata import Metadata
from .plain_values import Unknown, plain_value
from .remarks import remark
from .type_schemas import TypeReader

_NO_HINT = object()


class Refused(Exception):
    """The function cannot be a tool: line, name and reason."""

    def __init__(self, line, name, reason):
        super().__init__(reason)
        self.line, self.name, self.reason = line, name, reason


class _Reading:
    def __init__(self, name, function, node, scope, module, docstring):
        self.name, self.docstring, self.remarks = name, docstring, []
        self.inner = inspect.unwrap(function)
        self.names = getattr(self.inner, "__globals__", scope)
        self.reader = TypeReader(self.names, docs=module.field_docs)
        self.arguments = _arguments(node)
        self.line = 1 if node is None else node.lineno

    def label(self, parameter, star=""):
        return f"{self.name}({star}{parameter.name})"

    def line_of(self, parameter):
        node = self.arguments.get(parameter.name)
        return node[0].lineno if node else self.line


def read(name, function, node, scope, module, docstring):
    """(the schema, the remarks). Raises Refused."""
    reading = _Reading(name, function, node, scope, module, docstring)
    found = parameters_of(function, scope)
    if found is None:
        raise Refused(reading.line, name, "Python does not know its parameters")
    unpacked = _read_unpacked(reading, found)
    _check_kinds(reading, found, unpacked)
    properties, required = {}, []
    for parameter in found:
        if parameter.kind in (ALL_NAMED, ALL_POSITIONAL):
            continue
        schema, is_required = _read_one(reading, parameter)
        if schema is not None:
            properties[parameter.name] = schema
            required += [parameter.name] if is_required else []
    if unpacked is not None:
        required += [name for name in unpacked.get("required", ()) if name not in properties]
        properties = properties | {name: each for name, each in unpacked["properties"].items() if name not in properties}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return with_definitions(schema, reading.reader.definitions), reading.remarks


def _arguments(node):
    """{name: (syntax, syntax of its default or None)}"""
    if node is None:
        return {}
    about = node.args
    positional = [*about.posonlyargs, *about.args]
    defaults = [None] * (len(positional) - len(about.defaults)) + about.defaults
    pairs = [*zip(positional, defaults), *zip(about.kwonlyargs, about.kw_defaults)]
    pairs += [(each, None) for each in (about.vararg, about.kwarg) if each is not None]
    return {argument.arg: (argument, default) for argument, default in pairs}


def _read_unpacked(reading, found):
    """Of `**options: Unpack[Options]` the schema of that class, whose fields are arguments like any other; None without it."""
    parameter = next((each for each in found if each.kind == ALL_NAMED), None)
    hint = _resolved(parameter.hint, reading.names) if parameter else None
    origin = typing.get_origin(hint)
    if getattr(origin, "_name", None) != "Unpack" and not getattr(hint, "__is_unpacked_typevartuple__", False):
        return None
    try:
        schema = reading.reader.read_whole(typing.get_args(hint)[0])
    except NotJson:
        return None
    _note_doubts(reading, parameter, schema, "**")
    schema = reading.reader.definitions.get(schema.get("$ref", "").rpartition("/")[2], schema)
    return schema if isinstance(schema.get("properties"), dict) else None


def _resolved(hint, names):
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, names)
    except Exception:
        return None


def _check_kinds(reading, found, unpacked):
    """Handles *args and **kwargs, which have no name in a schema."""
    has_names = unpacked is not None or any(each.kind not in (ALL_NAMED, ALL_POSITIONAL) for each in found)
    for parameter in found:
        if parameter.kind not in (ALL_NAMED, ALL_POSITIONAL) or (unpacked is not None and parameter.kind == ALL_NAMED):
            continue
        star = "*" if parameter.kind == ALL_POSITIONAL else "**"
        label, line = reading.label(parameter, star), reading.line_of(parameter)
        if not has_names:
            raise Refused(line, label, f"It takes nothing but {star}{parameter.name}, for which no schema can be written")
        reading.remarks.append(remark(line, label, f"No schema can be written for {star}{parameter.name}: it is left out"))


def _read_one(reading, parameter):
    """(its schema, or None where it is left out; whether it is required)."""
    default, is_required, metadata = parameter.default, parameter.is_required, Metadata()
    is_field = type(default).__name__ in ("FieldInfo", "OptionInfo", "ArgumentInfo", "Query", "Body") and not is_required
    if is_field:
        metadata.read(default)
        is_required = default.is_required() if hasattr(default, "is_required") else default.default is ...
        default = _NO_HINT if is_required or getattr(default, "default_factory", None) else default.default
    try:
        schema = metadata.apply(_type_of(reading, parameter))
    except NotJson as error:
        if is_required:
            raise Refused(reading.line_of(parameter), reading.label(parameter), str(error)) from None
        reason = f"{error}: it is left out and keeps its default"
        reading.remarks.append(remark(reading.line_of(parameter), reading.label(parameter), reason))
        return None, False
    _note_doubts(reading, parameter, schema)
    if not is_required and default is not _NO_HINT:
        schema = _with_default(schema, default, reading, parameter)
    text = reading.docstring.parameters.get(parameter.name)
    if text and not schema.get("description"):
        schema = schema | {"description": text}
    return schema, is_required


def _note_doubts(reading, parameter, schema, star=""):
    for doubt in reading.reader.doubts:
        reason = f"{doubt}: anything is accepted" if schema == {} else doubt
        reading.remarks.append(remark(reading.line_of(parameter), reading.label(parameter, star), reason))
    reading.reader.doubts.clear()


def _type_of(reading, parameter):
    if parameter.name in annotations_of(reading.inner) or parameter.hint is not None:
        return reading.reader.read_whole(parameter.hint)
    documented = reading.docstring.types.get(parameter.name)
    hint = hint_of(documented) if documented else None
    return reading.reader.read_whole(hint) if hint is not None else {}


def _with_default(schema, default, reading, parameter):
    try:
        value = plain_value(default)
    except Unknown:
        return schema
    if value is None and not _takes_null(schema):
        # "count: int = None" accepts null, despite its hint.
        schema = {"anyOf": [*schema.get("anyOf", [_bare(schema)]), dict(NULL)]} | _words(schema)
    _, node = reading.arguments.get(parameter.name, (None, None))
    return schema | {"default": value} if is_constant(node, reading.names) else schema


def is_constant(node, names):
    """Whether a default is the same in every run: it calls only types, such as Path("a") or date(2024, 1, 2)."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)] if node is not None else ()
    for call in calls:
        callee = _named(call.func, names)
        is_type = isinstance(callee, type) or hasattr(callee, "__supertype__")
        if not is_type and getattr(callee, "__name__", None) not in _MAKERS:
            return False
    return True


# Functions of pydantic and typer that describe a default.
_MAKERS = {"Field", "Option", "Argument"}


def _named(node, names):
    """Resolves a dotted name."""
    if isinstance(node, ast.Attribute):
        return getattr(_named(node.value, names), node.attr, None)
    return names.get(node.id, getattr(builtins, node.id, None)) if isinstance(node, ast.Name) else None


_WORDS = ("title", "description", "examples", "deprecated")


def _takes_null(schema):
    is_null = schema.get("type") == "null" or None in schema.get("enum", ())
    return is_null or not _bare(schema) or NULL in schema.get("anyOf", ())


def _words(schema):
    return {key: schema[key] for key in _WORDS if key in schema}


def _bare(schema):
    return {key: value for key, value in schema.items() if key not in _WORDS}
