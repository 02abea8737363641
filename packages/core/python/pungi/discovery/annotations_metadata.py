"""What Annotated, pydantic's Field and annotated_types say about a value beside its type."""

import ast

from .defaults import Unknown, evaluate, evaluate_or
from .module import dedent

FIELDS = {"pydantic.Field", "pydantic.fields.Field", "sqlmodel.Field", "fastapi.Query", "fastapi.Body", "fastapi.Path"}
_TYPER = {"typer.Option", "typer.Argument"}
_SINGLE = {
    "annotated_types.Gt": "gt", "annotated_types.Ge": "ge", "annotated_types.Lt": "lt", "annotated_types.Le": "le",
    "annotated_types.MultipleOf": "multiple_of", "annotated_types.MinLen": "min_length", "annotated_types.MaxLen": "max_length",
}
_GROUPS = {
    "annotated_types.Interval": (), "annotated_types.Len": ("min_length", "max_length"), "pydantic.StringConstraints": (),
}
_NUMBERS = {
    "gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum", "multiple_of": "multipleOf",
    "min": "minimum", "max": "maximum",
}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
_LENGTH_NAMES = {"min_items": "min_length", "max_items": "max_length", "regex": "pattern"}


class Metadata:
    """`alias`: by which the value comes; `output_alias`: by which it goes; `default`: its syntax, or None."""

    def __init__(self):
        self.description = self.title = self.examples = self.alias = self.output_alias = self.default = None
        self.has_default = self.is_excluded = self.is_deprecated = False
        self.constraints, self.extra = {}, {}

    def read(self, node, names):
        """Whatever else stands in an Annotated is somebody else's."""
        name = names.outside_name(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.description = self.description or dedent(node.value)
        elif not isinstance(node, ast.Call):
            pass
        elif name in FIELDS:
            self._read_field(node, names)
        elif name == "typing.Doc" and node.args:
            self.description = evaluate_or(node.args[0], names) or self.description
        elif name in _SINGLE:
            self._constrain(names, {_SINGLE[name]: _first(node)})
        elif name in _GROUPS:
            self._constrain(names, dict(zip(_GROUPS[name], node.args)) | _keywords(node))
        elif name in _TYPER:
            keywords = _keywords(node)
            self._set_text("description", keywords.get("help"), names)
            self._constrain(names, {key: keywords[key] for key in ("min", "max") if key in keywords})

    def read_constraints(self, call, names):
        self._constrain(names, _keywords(call))

    def _read_field(self, node, names):
        keywords = _keywords(node)
        default = keywords.get("default", node.args[0] if node.args else None)
        if default is not None and not (isinstance(default, ast.Constant) and default.value is Ellipsis):
            self.default, self.has_default = default, True
        if "default_factory" in keywords:
            self.has_default = True
        self._set_text("description", keywords.get("description"), names)
        self._set_text("title", keywords.get("title"), names)
        self._set_text("alias", keywords.get("alias"), names)
        self._set_text("output_alias", keywords.get("alias"), names)
        self._set_text("alias", _first_choice(keywords.get("validation_alias"), names), names)
        self._set_text("output_alias", keywords.get("serialization_alias"), names)
        if "examples" in keywords:
            examples = evaluate_or(keywords["examples"], names)
            self.examples = examples if isinstance(examples, list) else None
        extra = evaluate_or(keywords["json_schema_extra"], names) if "json_schema_extra" in keywords else None
        self.extra = extra if isinstance(extra, dict) else {}
        self.is_excluded = evaluate_or(keywords.get("exclude"), names) is True
        self.is_deprecated = bool(evaluate_or(keywords.get("deprecated"), names))
        self._constrain(names, keywords)

    def _set_text(self, field, node, names):
        value = evaluate_or(node, names)
        if isinstance(value, str) and value:
            setattr(self, field, dedent(value) if field == "description" else value)

    def _constrain(self, names, nodes):
        for key, node in nodes.items():
            key = _LENGTH_NAMES.get(key, key)
            if key not in _NUMBERS and key not in ("min_length", "max_length", "pattern"):
                continue
            if key == "pattern" and isinstance(node, ast.Call) and names.outside_name(node) == "re.compile" and node.args:
                node = node.args[0]
            try:
                value = evaluate(node, names)
            except Unknown:
                continue
            if value is not None:
                self.constraints[key] = value

    def apply(self, schema):
        """A new schema with all of it."""
        schema = constrain(schema, self.constraints)
        said = {
            "title": self.title, "description": self.description, "examples": self.examples,
            "deprecated": True if self.is_deprecated else None, **self.extra,
        }
        return schema | {key: value for key, value in said.items() if value is not None}


def constrain(schema, constraints):
    """In a choice the constraint belongs to those that can have it: a least number says nothing about null."""
    if not constraints:
        return schema
    if "anyOf" in schema:
        return schema | {"anyOf": [constrain(each, constraints) for each in schema["anyOf"]]}
    kind, added = schema.get("type"), {}
    for key, value in constraints.items():
        if key in _NUMBERS and kind in ("integer", "number") and _is_number(value):
            added[_NUMBERS[key]] = value
        elif key in ("min_length", "max_length") and kind in _LENGTHS and isinstance(value, int):
            added[_LENGTHS[kind][key]] = value
        elif key == "pattern" and kind == "string" and isinstance(value, str):
            added["pattern"] = value
    return schema | added


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _first(node):
    return node.args[0] if node.args else next((each.value for each in node.keywords), None)


def _keywords(node):
    return {each.arg: each.value for each in node.keywords if each.arg}


def _first_choice(node, names):
    """AliasChoices("a", "b") comes by either; the schema names the first."""
    if isinstance(node, ast.Call) and names.outside_name(node) == "pydantic.AliasChoices" and node.args:
        return node.args[0]
    return node
