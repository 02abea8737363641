"""What sort of class it is, by its bases and decorators."""

import ast

from .annotations_known import LISTS, MAPPINGS, PLAIN, SETS, TUPLES
from .names import Inside, Outside

ONLY_CODE = "built by code"
ROOT_MODELS = {"pydantic.RootModel"}
_DATACLASSES = {"dataclasses.dataclass", "pydantic.dataclasses.dataclass"}
_ATTRS = {
    "attr.s", "attr.attrs", "attr.define", "attr.mutable", "attr.frozen", "attr.dataclass", "attrs.define", "attrs.mutable",
    "attrs.frozen",
}
_KINDS = {
    "typing.TypedDict": "typeddict", "typing.NamedTuple": "namedtuple", "pydantic.BaseModel": "model",
    "collections.namedtuple": "namedtuple", "pydantic.RootModel": "model",
    "pydantic_settings.BaseSettings": "model", "sqlmodel.SQLModel": "model", "pydantic.main.BaseModel": "model",
}
_SCALARS = set(PLAIN) | LISTS | SETS | TUPLES | MAPPINGS
_NEUTRAL = {"typing.Generic", "abc.ABC", "builtins.object"}
_MAX_DEPTH = 30


def kind_of(definition, names, depth=0):
    """One of "dataclass", "attrs", "typeddict", "namedtuple", "model", "scalar", "unknown"; a plain class has none."""
    if is_dataclass(definition, names):
        return "dataclass"
    if any(names.outside_name(each) in _ATTRS for each in definition.decorator_list):
        return "attrs"
    found = [_kind_of_base(base, names, depth) for base in definition.bases]
    for kind in ("typeddict", "namedtuple", "model", ONLY_CODE, "scalar", "unknown", "dataclass", "attrs"):
        if kind in found:
            return kind
    return ""


def is_dataclass(definition, names):
    return any(names.outside_name(each) in _DATACLASSES for each in definition.decorator_list)


def _kind_of_base(base, names, depth):
    if isinstance(base, ast.Call):  # class Point(namedtuple("Point", "x y"))
        return _KINDS.get(names.outside_name(base), "unknown")
    meaning = names.resolve(base.value if isinstance(base, ast.Subscript) else base)
    if isinstance(meaning, Outside):
        if meaning.name in _KINDS:
            return _KINDS[meaning.name]
        if meaning.name in _SCALARS - _NEUTRAL:
            return "scalar"
        if meaning.name in _NEUTRAL:
            return ""
        return ONLY_CODE if meaning.is_standard else "unknown"
    if isinstance(meaning, Inside) and isinstance(meaning.node, ast.ClassDef) and depth < _MAX_DEPTH:
        return kind_of(meaning.node, names, depth + 1)
    if isinstance(meaning, Inside) and isinstance(meaning.node, ast.Call):
        return _KINDS.get(names.outside_name(meaning.node), "unknown")
    return "unknown"


def base_named(definition, names):
    """The base of a class that only gives another name to a text, a number, a list."""
    for base in definition.bases:
        meaning = names.resolve(base.value if isinstance(base, ast.Subscript) else base)
        if isinstance(meaning, Outside) and meaning.name in _SCALARS:
            return base
        if isinstance(meaning, Inside):
            return base
    return definition.bases[0]
