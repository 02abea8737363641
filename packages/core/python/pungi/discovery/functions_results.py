"""What a function gives back, as the schema of a tool's structured content."""

from .annotations import TypeReader
from .annotations_definitions import with_definitions
from .annotations_known import NotJson

_NOTHING = ({}, {"type": "null"})


def read(definition, names):
    """(the schema or None, whether the value is put below "result" since it is no object).

    None: nothing is said, or it is nothing, or it is bytes and pictures, which are no structured content.
    """
    if definition.returns is None:
        return None, False
    reader = TypeReader(names, is_result=True)
    parameters = getattr(definition, "type_params", None)
    try:
        with reader.variables.bound(reader.variables.parameters_of(None, parameters) if parameters else (), ()):
            schema = reader.read_whole(definition.returns)
    except NotJson:
        return None, False
    # Of a type that reading does not know it is not known either how it comes out.
    if schema in _NOTHING or reader.doubts or reader.has_pictures or _says_nothing(schema):
        return None, False
    target = reader.definitions.get(schema.get("$ref", "").removeprefix("#/$defs/"), schema)
    if target.get("type") == "object":
        return with_definitions(schema, reader.definitions), False
    wrapped = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    return with_definitions(wrapped, reader.definitions), True


def _says_nothing(schema):
    """A bare list may hold pictures, which go out by another way."""
    return schema == {"type": "array", "items": {}}
