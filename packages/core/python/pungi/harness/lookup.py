"""Reads a value by its path."""

import re

from .shown import cut, shown

_PATH_PART = re.compile(r"""\.?([^.\[\]'"]+)|\[(-?\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]""")


class NothingThere(KeyError):
    def __str__(self):
        return self.args[0]  # a KeyError would show it in quotes


def look_up(value, path):
    for part in path_parts(path):
        value = _step(value, part)
    return value


def path_parts(path):
    text = path[1:] if path.startswith("$") else path
    parts, at = [], 0
    while at < len(text):
        match = _PATH_PART.match(text, at)
        if match is None:
            raise ValueError(f"{path!r} is no path; write it as response.content[0].text")
        name, index, *quoted = match.groups()
        parts.append(int(index) if index is not None else next(each for each in (name, *quoted) if each is not None))
        at = match.end()
    return parts


def _step(value, part):
    if isinstance(value, dict):
        if part in value:
            return value[part]
        raise NothingThere(f"there is no {part!r}, only {cut(', '.join(map(str, value)) or 'an empty map', 300)}")
    if isinstance(value, (list, tuple)):
        index = int(part) if type(part) is str and part.lstrip("-").isdigit() else part
        if type(index) is int and -len(value) <= index < len(value):
            return value[index]
        raise NothingThere(f"the list has {len(value)} items, and no {part!r}")
    raise NothingThere(f"{shown(value)} has no {part!r}")
