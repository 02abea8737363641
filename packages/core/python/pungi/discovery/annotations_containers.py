"""Lists, sets, tuples and dicts as JSON Schema."""

import ast

from .annotations_known import COUNTERS, LISTS, MAPPINGS, SETS, STREAMS, TUPLES


def read_container(reader, name, arguments, is_empty_tuple):
    """By its full name; None where it is none."""
    if name in LISTS or (name in STREAMS and reader.is_result):
        return {"type": "array", "items": reader.inner(arguments[0]) if arguments else {}}
    if name in SETS:
        return {"type": "array", "uniqueItems": True, "items": reader.inner(arguments[0]) if arguments else {}}
    if name in TUPLES:
        return _read_tuple(reader, arguments, is_empty_tuple)
    if name in MAPPINGS:
        return _read_mapping(reader, arguments)
    if name in COUNTERS:
        return {"type": "object", "additionalProperties": {"type": "integer"}}
    return None


def _read_tuple(reader, arguments, is_empty):
    if is_empty:
        return {"type": "array", "minItems": 0, "maxItems": 0}
    if not arguments or any(isinstance(each, ast.Starred) for each in arguments):
        return {"type": "array", "items": {}}
    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant) and arguments[1].value is Ellipsis:
        return {"type": "array", "items": reader.inner(arguments[0])}
    items = [reader.inner(each) for each in arguments]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _read_mapping(reader, arguments):
    if len(arguments) != 2:
        return {"type": "object", "additionalProperties": True}
    keys, values = reader.inner(arguments[0]), reader.inner(arguments[1])
    schema = {"type": "object", "additionalProperties": values if values else True}
    # The names of a JSON object are texts; what else is wanted is converted from them.
    target = reader.definitions.get(keys.get("$ref", "").removeprefix("#/$defs/"), keys)
    is_text = target.get("type") == "string" or all(isinstance(each, str) for each in target.get("enum", [None]))
    if is_text and target != {"type": "string"}:
        schema["propertyNames"] = keys
    return schema
