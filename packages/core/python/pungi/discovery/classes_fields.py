"""The fields of a class that holds data: their types, defaults, names outside, and whether they must be there."""

import ast
import contextlib

from .annotations_known import NotJson
from .annotations_metadata import FIELDS, Metadata
from .classes_kinds import kind_of
from .classes_settings import settings_of
from .defaults import evaluate_or
from .module import dedent
from .names import FUNCTIONS, Inside, outside

MADE_TUPLES = {"typing.NamedTuple", "collections.namedtuple"}
_REQUIREDNESS = {"typing.Required": True, "typing.NotRequired": False}
_MAX_STATEMENTS = 1000
_MAX_BASES = 30
_ANYTHING = outside("builtins.object")


class Field:
    """`annotation`: its syntax; `default`: its syntax, or None where it has none or only code knows it."""

    def __init__(self, name, annotation, scopes=()):
        self.name = self.input_name = self.output_name = name
        self.annotation, self.scopes = annotation, scopes
        self.default, self.text = None, ""
        self.metadata = Metadata()
        self.is_required, self.is_input, self.is_excluded = True, True, False

    def set_default(self, node):
        self.default, self.is_required = node, False

    @contextlib.contextmanager
    def within(self, variables):
        """The types that the variables of the class have that defines it."""
        with contextlib.ExitStack() as stack:
            for parameters, arguments in self.scopes:
                stack.enter_context(variables.bound(parameters, arguments))
            yield


def fields_of(definition, kind, reader):
    """(its fields in their order, with those of its bases; what its configuration says)."""
    fields, settings = {}, {}
    _collect(definition, kind, reader, (), fields, settings, 0)
    if kind == "model":
        for field in fields.values():
            _name_outside(field, settings)
    return list(fields.values()), settings


def _collect(definition, kind, reader, scopes, fields, settings, depth):
    # What stands first among the bases is looked at first, so it is what remains.
    for base in reversed(definition.bases):
        meaning = reader.names.resolve(base.value if isinstance(base, ast.Subscript) else base)
        call = base if isinstance(base, ast.Call) else getattr(meaning, "node", None)
        if isinstance(call, ast.Call):
            fields.update({field.name: field for field in made_fields(call, reader.names) or ()})
        elif not isinstance(meaning, Inside) or depth >= _MAX_BASES:
            continue
        elif isinstance(meaning.node, ast.ClassDef) and kind_of(meaning.node, reader.names) in (kind, ""):
            inner = (*scopes, _scope_of(base, meaning.node, reader)) if isinstance(base, ast.Subscript) else scopes
            _collect(meaning.node, kind, reader, inner, fields, settings, depth + 1)
    settings.update(settings_of(definition, reader.names))
    if len(definition.body) > _MAX_STATEMENTS:
        raise NotJson(f"{definition.name} is too large a class")
    if kind_of(definition, reader.names):
        for field in _own_fields(definition, kind, reader, scopes):
            if kind == "attrs":
                field.input_name = field.name.lstrip("_")
            fields[field.name] = field


def _scope_of(base, definition, reader):
    arguments = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
    type_parameters = getattr(definition, "type_params", None)
    generic = [each for each in definition.bases if isinstance(each, ast.Subscript)]
    value = ast.Tuple(elts=[each.slice for each in generic], ctx=ast.Load())
    return reader.variables.parameters_of(value, type_parameters), arguments


def _own_fields(definition, kind, reader, scopes):
    names = reader.names
    is_total = not any(each.arg == "total" and evaluate_or(each.value, names) is False for each in definition.keywords)
    found = None
    for statement in definition.body:
        if found is not None and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            found.text = dedent(statement.value.value) if isinstance(statement.value.value, str) else ""
        found = None
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found = _field(statement, kind, names, scopes, is_total)
        elif kind == "model" and isinstance(statement, FUNCTIONS) and _is_computed(statement, names):
            found = Field(statement.name, statement.returns or _ANYTHING, scopes)
            found.is_input, found.metadata.extra = False, {"readOnly": True}
        if found is not None:
            yield found


def _is_computed(statement, names):
    return any(names.outside_name(each) == "pydantic.computed_field" for each in statement.decorator_list)


def _field(statement, kind, names, scopes, is_total):
    name, outer = statement.target.id, names.outside_name(_head(statement.annotation))
    if outer in ("typing.ClassVar", "dataclasses.KW_ONLY") or (kind == "model" and name.startswith("_")):
        return None
    field = Field(name, statement.annotation, scopes)
    if kind == "typeddict":
        field.is_required = _is_required(statement.annotation, names, is_total)
        return field
    _read_annotated(field, names)
    value = statement.value
    maker = names.outside_name(value) if isinstance(value, ast.Call) else ""
    if maker in FIELDS:
        field.metadata.read(value, names)
        if field.metadata.has_default:
            field.set_default(field.metadata.default)
    elif maker in ("dataclasses.field", "attrs.field", "attr.ib"):
        _read_dataclass_field(field, value, names)
    elif value is not None:
        field.set_default(value)
    field.is_excluded = field.metadata.is_excluded
    if outer == "dataclasses.InitVar":
        field.is_excluded = True
    return field


def _read_annotated(field, names):
    """Field(…) within Annotated says how the field is called and what it is when it is absent."""
    node = field.annotation
    if isinstance(node, ast.Subscript) and names.outside_name(node.value) == "typing.Annotated":
        inner = Metadata()
        for each in node.slice.elts[1:] if isinstance(node.slice, ast.Tuple) else ():
            if isinstance(each, ast.Call):
                inner.read(each, names)
        field.metadata.alias, field.metadata.output_alias = inner.alias, inner.output_alias
        field.metadata.is_excluded = inner.is_excluded
        if inner.has_default:
            field.set_default(inner.default)


def _read_dataclass_field(field, call, names):
    keywords = {each.arg: each.value for each in call.keywords}
    if "default" in keywords:
        field.set_default(keywords["default"])
    elif "default_factory" in keywords or "factory" in keywords:
        field.set_default(None)
    field.is_input = evaluate_or(keywords.get("init"), names) is not False
    about = evaluate_or(keywords.get("metadata"), names)
    if isinstance(about, dict):
        field.text = next((about[key] for key in ("description", "help", "doc") if isinstance(about.get(key), str)), "")


def _name_outside(field, settings):
    generated = settings["alias_generator"](field.name) if settings.get("alias_generator") else None
    field.input_name = field.metadata.alias or generated or field.name
    if settings.get("serialize_by_alias"):
        field.output_name = field.metadata.output_alias or generated or field.name


def _head(annotation):
    return annotation.value if isinstance(annotation, ast.Subscript) else annotation


def _is_required(annotation, names, is_total):
    node = annotation
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            node = ast.parse(node.value.strip(), mode="eval").body
    while isinstance(node, ast.Subscript):
        name = names.outside_name(node.value)
        if name in _REQUIREDNESS:
            return _REQUIREDNESS[name]
        if name not in ("typing.Annotated", "typing.ReadOnly"):
            break
        node = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    return is_total


def made_fields(call, names):
    """Of TypedDict("A", {…}), NamedTuple("A", […]) and namedtuple("A", "x y"); None: not known by reading."""
    maker, given = names.outside_name(call), call.args[1] if len(call.args) > 1 else None
    keywords = {each.arg: each.value for each in call.keywords}
    if maker == "typing.TypedDict" and isinstance(given, ast.Dict):
        is_total = evaluate_or(keywords.get("total"), names) is not False
        pairs = [(evaluate_or(key, names), value) for key, value in zip(given.keys, given.values)]
        fields = [Field(key, value) for key, value in pairs if isinstance(key, str)]
        for field in fields:
            field.is_required = _is_required(field.annotation, names, is_total)
        return fields
    if maker == "typing.NamedTuple" and isinstance(given, (ast.List, ast.Tuple)):
        pairs = [each.elts for each in given.elts if isinstance(each, (ast.Tuple, ast.List)) and len(each.elts) == 2]
        return [Field(each[0].value, each[1]) for each in pairs if isinstance(each[0], ast.Constant)]
    if maker == "collections.namedtuple":
        labels = evaluate_or(given, names)
        labels = labels.replace(",", " ").split() if isinstance(labels, str) else labels
        if not isinstance(labels, list) or not all(isinstance(each, str) for each in labels):
            return None
        fields, last = [Field(each, _ANYTHING) for each in labels], keywords.get("defaults")
        values = last.elts if isinstance(last, (ast.Tuple, ast.List)) else []
        for field, value in zip(reversed(fields), reversed(values)):
            field.set_default(value)
        return fields
    return None
