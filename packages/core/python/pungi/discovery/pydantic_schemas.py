"""Adapts the schemas that pydantic generates for its models and types."""

import sys

from .known_types import NotJson

_PREFIX = "#/$defs/"


def read_model(reader, kind):
    """Raises NotJson where pydantic itself can write no schema."""
    mode = "serialization" if reader.is_result else "validation"
    # Calls write models by the names of their fields, unless the model itself says otherwise.
    settings = getattr(kind, "model_config", None) or {}
    by_alias = not reader.is_result or settings.get("serialize_by_alias") is True
    try:
        if hasattr(kind, "model_json_schema"):
            schema = kind.model_json_schema(mode=mode, by_alias=by_alias)
        elif hasattr(kind, "schema") and hasattr(kind, "parse_obj"):
            schema = kind.schema(by_alias=by_alias)
        else:
            schema = sys.modules["pydantic"].TypeAdapter(kind).json_schema(mode=mode, by_alias=by_alias)
    except Exception as error:
        first, *_ = str(error).splitlines() or [""]
        raise NotJson(f"pydantic can write no schema for {kind.__name__}: {first[:200]}") from None
    return _adopted(reader, kind, schema)


def _adopted(reader, kind, schema):
    """Moves the definitions of the schema to the shared ones."""
    definitions = {**schema.pop("definitions", {}), **schema.pop("$defs", {})}
    name = "".join(letter if letter.isalnum() else "_" for letter in kind.__qualname__.rpartition("<locals>.")[2])
    if "$ref" not in schema:
        definitions = {**definitions, name: schema}
    else:
        name = schema["$ref"].rpartition("/")[2]
    for key, each in definitions.items():
        reader.definitions.setdefault(key, _plain(each))
    _describe_fields(reader, kind, reader.definitions[name])
    found = reader.definitions[name]
    return {"$ref": _PREFIX + name} if "properties" in found or "enum" in found else reader.definitions.pop(name)


def _describe_fields(reader, kind, schema):
    """With the texts that stand below fields in the script."""
    texts = {}
    for base in reversed(kind.__mro__):
        texts.update(reader.docs(base))
    for name, text in texts.items():
        field = (getattr(kind, "model_fields", None) or {}).get(name)
        keys = (name, getattr(field, "alias", None), getattr(field, "validation_alias", None))
        for key in keys:
            if isinstance(key, str) and isinstance(schema.get("properties", {}).get(key), dict):
                schema["properties"][key].setdefault("description", text)


def _plain(schema):
    """Removes the titles that pydantic derives from names."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in ("properties", "$defs", "definitions", "patternProperties") and isinstance(value, dict):
            found[key] = {inner: _plain(each) for inner, each in value.items()}
        elif key == "$ref":
            found[key] = _PREFIX + value.rpartition("/")[2]
        elif key in ("default", "examples", "enum", "const", "required"):
            found[key] = value
        else:
            found[key] = _plain(value)
    if set(found) == {"allOf"} and len(found["allOf"]) == 1:
        return found["allOf"][0]
    return found


