"""Finds strings of a script that may name files next to it. The server checks which of these files exist."""

import ast

_MOST, _LONGEST = 200, 200


def named_files(tree):
    """[{path, line}], with the first line that names it."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _may_be_a_file(node.value):
            path = node.value.removeprefix("./")
            found[path] = min(node.lineno, found.get(path, node.lineno))
    in_order = sorted(found.items(), key=lambda each: (each[1], each[0]))
    return [{"path": path, "line": line} for path, line in in_order[:_MOST]]


def _may_be_a_file(text):
    """Whether the text is a relative path whose last part has an extension."""
    if not 2 < len(text) <= _LONGEST or text[0] in "/~" or not text.isprintable():
        return False
    stem, dot, ending = text.rpartition("/")[2].rpartition(".")
    return bool(stem and dot and ending) and not any(mark in text for mark in ("://", "\\", "..", "*", "\ufffd"))
