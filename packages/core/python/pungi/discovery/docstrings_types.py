"""The types that docstrings name where the code itself names none: "int, optional", "list of str", "{'a', 'b'}"."""

import ast
import re

from .names import outside

_WORDS = {
    "string": "str", "integer": "int", "boolean": "bool", "number": "float", "dictionary": "dict", "mapping": "dict",
    "sequence": "list",
    "iterable": "list", "ints": "int", "floats": "float", "strs": "str", "strings": "str", "integers": "int",
    "dicts": "dict", "lists": "list", "bools": "bool", "numbers": "float", "list": "list", "str": "str", "int": "int",
    "float": "float", "bool": "bool", "dict": "dict", "set": "set", "tuple": "tuple", "none": "None", "bytes": "bytes",
}
_SEVERAL = re.compile(r"^(?:(?:list|sequence|iterable|set|tuple)s? of (\w+)|(?:list|set)\[(\w+)\])$", re.IGNORECASE)
_CHOICES = re.compile(r"^\{([^{}]*)\}$")
_MAX_TEXT = 300


def annotation_of(text):
    """As syntax; None where it is no plain type: a docstring's wording is no promise, so only the clear ones count."""
    text = text[:_MAX_TEXT].strip().rstrip(".")
    text = re.split(r",\s*(?:optional|default\b|defaults\b|keyword)|\s+\(?optional\)?$", text, flags=re.IGNORECASE)[0].strip()
    parts = [_one(part.strip()) for part in re.split(r"\s+or\s+|\s*\|\s*", text)]
    if None in parts:
        return None
    return _of("typing.Union", *parts) if len(parts) > 1 else parts[0]


def _one(text):
    choices, several = _CHOICES.match(text), _SEVERAL.match(text)
    if choices:
        values = _constants(choices[1])
        return _of("typing.Literal", *values) if values else None
    if several:
        inner = _plain(several[1] or several[2])
        return _of("builtins.list", inner) if inner else None
    return _plain(text)


def _plain(text):
    name = _WORDS.get(text.lower())
    return outside(f"builtins.{name}") if name else None


def _of(name, *parts):
    return ast.Subscript(value=outside(name), slice=ast.Tuple(elts=list(parts), ctx=ast.Load()), ctx=ast.Load())


def _constants(text):
    try:
        values = ast.parse(f"[{text}]", mode="eval").body.elts
    except (SyntaxError, ValueError):
        return None
    return values if all(isinstance(each, ast.Constant) for each in values) else None
