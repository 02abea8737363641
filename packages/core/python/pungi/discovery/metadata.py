"""Reads constraints and descriptions from Annotated, pydantic's Field and annotated_types."""

from .module import dedent

_NUMBERS = {
    "gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum", "multiple_of": "multipleOf",
    "min": "minimum", "max": "maximum",
}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
_CONSTRAINTS = (*_NUMBERS, "min_length", "max_length", "pattern")


class Metadata:
    """Reads objects by their attributes, whichever package they are of: pydantic, annotated_types, typer, typing's Doc."""

    def __init__(self):
        self.words, self.constraints = {}, {}

    def read(self, item):
        if isinstance(item, str):
            self.words.setdefault("description", dedent(item))
            return
        description = next(filter(None, (_text(item, name) for name in ("description", "help", "documentation"))), None)
        self._say("description", description and dedent(description))
        self._say("title", _text(item, "title"))
        if isinstance(examples := getattr(item, "examples", None), list):
            self._say("examples", examples)
        if getattr(item, "deprecated", None):
            self._say("deprecated", True)
        if isinstance(extra := getattr(item, "json_schema_extra", None), dict):
            self.words.update(extra)
        for key in _CONSTRAINTS:
            if (value := getattr(item, key, None)) is not None:
                self.constraints[key] = getattr(value, "pattern", value) if key == "pattern" else value
        # pydantic keeps what Field(ge=1) says as a list of such objects.
        for inner in getattr(item, "metadata", None) or ():
            self.read(inner)

    def _say(self, key, value):
        if value:
            self.words[key] = value

    def apply(self, schema):
        """Returns a new schema with the constraints and descriptions."""
        return constrain(schema, self.constraints) | self.words


def _text(item, name):
    value = getattr(item, name, None)
    return value if isinstance(value, str) else None


def constrain(schema, constraints):
    """In a choice the constraint belongs to the alternatives that can have it: a least number says nothing about null."""
    if not constraints:
        return schema
    if "anyOf" in schema:
        return schema | {"anyOf": [constrain(each, constraints) for each in schema["anyOf"]]}
    kind, added = schema.get("type"), {}
    for key, value in constraints.items():
        if key in _NUMBERS and kind in ("integer", "number") and _is_number(value):
            added[_NUMBERS[key]] = value
        elif key in ("min_length", "max_length") and kind in _LENGTHS and type(value) is int:
            added[_LENGTHS[kind][key]] = value
        elif key == "pattern" and kind == "string" and isinstance(value, str):
            added["pattern"] = value
    return schema | added


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
