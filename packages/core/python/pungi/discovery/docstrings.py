"""Parses docstrings in the styles of Google, NumPy and Sphinx, or without a style."""

import re

from .module import dedent

_PARAMETERS = {"args", "arguments", "params", "parameters", "keyword args", "keyword arguments", "other parameters"}
_ATTRIBUTES = {"attributes", "fields", "members"}
_OTHERS = {
    "returns", "return", "yields", "yield", "receives", "raises", "raise", "exceptions", "except", "warns", "warnings",
    "warning",
    "example", "examples", "note", "notes", "see also", "references", "todo", "methods", "functions", "classes", "modules",
}
_SECTIONS = _PARAMETERS | _ATTRIBUTES | _OTHERS
_GOOGLE_HEAD = re.compile(r"^(?P<title>[A-Za-z][A-Za-z ]*):[ \t]*$")
_GOOGLE_ITEM = re.compile(r"^\*{0,2}(?P<name>\w+)[ \t]*(?:\((?P<type>.*?)\)[ \t]*)?:(?!:)[ \t]*(?P<text>.*)$")
_NUMPY_ITEM = re.compile(r"^(?P<names>\*{0,2}\w+(?:[ \t]*,[ \t]*\*{0,2}\w+)*)[ \t]*(?::[ \t]*(?P<type>.*))?$")
_SPHINX_FIELD = re.compile(r"^:(?P<kind>\w+)(?:[ \t]+(?P<words>[^:\s][^:]*))?:(?:[ \t]+(?P<text>.*))?$")
_SPHINX_PARAMETER = {"param", "parameter", "arg", "argument", "key", "keyword"}
_SPHINX_ATTRIBUTE = {"ivar", "var", "cvar", "vartype"}
_SPHINX_OTHERS = {
    "type", "return", "returns", "rtype", "raise", "raises", "except", "exception", "yield", "yields", "meta", "ytype",
}


class Docstring:
    """`description`: what stands before the first section; `parameters` and `types`: by name, in the script's own words."""

    def __init__(self, description="", parameters=None, types=None):
        self.description, self.parameters, self.types = description, parameters or {}, types or {}


def parse_docstring(text):
    # A lone surrogate cannot be sent.
    lines = dedent(text.encode("utf-8", "replace").decode("utf-8")).split("\n")
    for parse in (_parse_google, _parse_numpy, _parse_sphinx):
        found = parse(lines)
        if found is not None:
            return found
    return Docstring("\n".join(lines).strip())


def _parse_google(lines):
    description, parameters, types, section = [], {}, {}, None
    number = 0
    while number < len(lines):
        title = _google_title(lines, number)
        if title:
            section = title
            block, number = _indented_block(lines, number + 1)
            if title in _PARAMETERS or title in _ATTRIBUTES:
                _read_google_items(block, parameters, types)
            continue
        if section is None:
            description.append(lines[number])
        number += 1
    return Docstring(_joined(description), parameters, types) if section else None


def _google_title(lines, number):
    """A heading has an indented text below it."""
    match = _GOOGLE_HEAD.match(lines[number])
    title = match["title"].strip().lower() if match else ""
    if title not in _SECTIONS:
        return ""
    return title if number + 1 < len(lines) and lines[number + 1].startswith(" ") else ""


def _indented_block(lines, number):
    block = []
    while number < len(lines) and (not lines[number].strip() or lines[number].startswith(" ")):
        block.append(lines[number])
        number += 1
    return block, number


def _read_google_items(block, parameters, types):
    margin = min((len(line) - len(line.lstrip()) for line in block if line.strip()), default=0)
    name, texts = None, []
    for line in [*(each[margin:] for each in block), None]:
        match = _GOOGLE_ITEM.match(line) if line else None
        if match is None and line is not None:
            texts.append(line.strip())
            continue
        if name:
            parameters[name] = _joined(texts)
        if match:
            name, texts = match["name"], [match["text"].strip()]
            if match["type"]:
                types[name] = match["type"].strip()


def _parse_numpy(lines):
    description, parameters, types, section = [], {}, {}, None
    number = 0
    while number < len(lines):
        title = _numpy_title(lines, number)
        if title:
            section = title
            number += 2
            block = []
            while number < len(lines) and not _numpy_title(lines, number):
                block.append(lines[number])
                number += 1
            if title in _PARAMETERS or title in _ATTRIBUTES:
                _read_numpy_items(block, parameters, types)
            continue
        description.append(lines[number])
        number += 1
    return Docstring(_joined(description), parameters, types) if section else None


def _numpy_title(lines, number):
    title = lines[number].strip().lower()
    rule = lines[number + 1].strip() if number + 1 < len(lines) else ""
    return title if title in _SECTIONS and len(rule) >= 3 and set(rule) <= {"-"} else ""


def _read_numpy_items(block, parameters, types):
    names, texts = [], []
    for line in [*block, None]:
        match = _NUMPY_ITEM.match(line) if line else None
        if match is None and line is not None:
            texts.append(line.strip())
            continue
        for name in names:
            parameters[name] = _joined(texts)
        if match:
            names, texts = [name.strip().lstrip("*") for name in match["names"].split(",")], []
            if match["type"]:
                types.update(dict.fromkeys(names, match["type"].strip()))


def _parse_sphinx(lines):
    description, parameters, types = [], {}, {}
    texts, is_found = None, False
    for line in lines:
        match = _SPHINX_FIELD.match(line)
        kind = match["kind"] if match else ""
        if kind in _SPHINX_PARAMETER | _SPHINX_ATTRIBUTE | _SPHINX_OTHERS:
            is_found, words = True, (match["words"] or "").split()
            texts = [(match["text"] or "").strip()]
            if kind in ("type", "vartype") and words:
                types[words[-1]] = texts[0]
            elif kind in _SPHINX_PARAMETER | _SPHINX_ATTRIBUTE and words:
                name = words[-1].lstrip("*\\")
                parameters[name] = texts
                if len(words) > 1:
                    types[name] = " ".join(words[:-1])
        elif texts is not None and (line.startswith(" ") or not line.strip()):
            texts.append(line.strip())
        elif texts is None:
            description.append(line)
    described = {name: _joined(words) for name, words in parameters.items()}
    return Docstring(_joined(description), described, types) if is_found else None


def _joined(lines):
    return "\n".join(lines).strip()
