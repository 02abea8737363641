"""Texts of a script that may be names of files beside it. Whether there are such files is for whoever has the folder to say."""

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
    """A relative path whose last part has an ending."""
    if not 2 < len(text) <= _LONGEST or text[0] in "/~" or not text.isprintable():
        return False
    stem, dot, ending = text.rpartition("/")[2].rpartition(".")
    return bool(stem and dot and ending) and not any(mark in text for mark in ("://", "\\", "..", "*", "\ufffd"))
