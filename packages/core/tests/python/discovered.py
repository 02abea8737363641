"""Reads a script as `pungi wrap` does, for tests of what it finds."""

import python_half  # noqa: F401
from pungi.discovery import functions
from pungi.discovery.module import Module

STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BOOLEAN, NULL = {"type": "boolean"}, {"type": "null"}


def find(source):
    return functions.find(Module(source, "script.py"))


def one_tool(source):
    """The only function of a script."""
    (tool,), _ = find(source)
    return tool


def schema_of(annotation, before=""):
    """Of a parameter with this annotation, with what it stands below put into it."""
    return one_tool(f"{before}\ndef function(value: {annotation}): ...")["inputSchema"]["properties"]["value"]


def result_of(annotation, before=""):
    return one_tool(f"{before}\ndef function() -> {annotation}: ...")["outputSchema"]


def remarks_of(source):
    """(line, name, reason, whether it is skipped) of each."""
    _, remarks = find(source)
    return [(each["line"], each["name"], each["reason"], each["isSkipped"]) for each in remarks]
