"""The types that docstrings name where the code itself names none: "int, optional", "list of str", "{'a', 'b'}"."""

import ast
import re
import typing

_WORDS = {
    "string": str, "integer": int, "boolean": bool, "number": float, "dictionary": dict, "mapping": dict, "sequence": list,
    "iterable": list, "ints": int, "floats": float, "strs": str, "strings": str, "integers": int, "dicts": dict,
    "lists": list, "bools": bool, "numbers": float, "list": list, "str": str, "int": int, "float": float, "bool": bool,
    "dict": dict, "set": set, "tuple": tuple, "none": type(None), "bytes": bytes,
}
_SEVERAL = re.compile(r"^(?:(?:list|sequence|iterable|set|tuple)s? of (\w+)|(?:list|set)\[(\w+)\])$", re.IGNORECASE)
_CHOICES = re.compile(r"^\{([^{}]*)\}$")
_MAX_TEXT = 300


def hint_of(text):
    """Returns None unless the wording clearly names a plain type."""
    text = text[:_MAX_TEXT].strip().rstrip(".")
    text = re.split(r",\s*(?:optional|default\b|defaults\b|keyword)|\s+\(?optional\)?$", text, flags=re.IGNORECASE)[0].strip()
    parts = [_one(part.strip()) for part in re.split(r"\s+or\s+|\s*\|\s*", text)]
    if None in parts:
        return None
    return typing.Union[tuple(parts)]


def _one(text):
    choices, several = _CHOICES.match(text), _SEVERAL.match(text)
    if choices:
        return _literal(choices[1])
    if several:
        inner = _WORDS.get((several[1] or several[2]).lower())
        return list[inner] if inner else None
    return _WORDS.get(text.lower())


def _literal(text):
    try:
        values = ast.literal_eval(f"[{text}]")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    is_plain = values and all(isinstance(each, (str, int, float, bool, type(None))) for each in values)
    return typing.Literal[tuple(values)] if is_plain else None
