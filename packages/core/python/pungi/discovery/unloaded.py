"""The functions of a script that could not be loaded, by its syntax alone: names, parameters, docstrings, plain types."""

import ast

from .docstrings import parse_docstring
from .functions import MOST_FUNCTIONS, tool_of
from .module import docstring_of
from .tool_names import ToolNames

_PLAIN = {
    "str": {"type": "string"}, "int": {"type": "integer"}, "float": {"type": "number"}, "bool": {"type": "boolean"},
    "dict": {"type": "object"}, "list": {"type": "array"}, "Path": {"type": "string", "format": "path"},
}

_MARKS = {"command", "group", "callback", "option", "argument", "overload", "fixture", "contextmanager", "asynccontextmanager"}


def find(module):
    names, tools = ToolNames(), []
    for name, node in {node.name: node for node in module.definitions() if not node.name.startswith("_")}.items():
        free = names.free(name)
        if free and len(tools) < MOST_FUNCTIONS and not _serves(node):
            names.add(free)
            docstring = parse_docstring(docstring_of(node))
            more = {"isAsync": isinstance(node, ast.AsyncFunctionDef), "wrapsResult": False, "outputSchema": None}
            tools.append(tool_of(name, free, docstring.description, _schema(node, docstring), node.lineno, more))
    return tools


def _serves(node):
    """Whether it is, by its decorators or its name, a command or something else that is not called with arguments."""
    marks = {getattr(each, "attr", getattr(each, "id", "")) for each in map(_callee, node.decorator_list)}
    about = node.args
    takes_any = about.posonlyargs or about.args or about.kwonlyargs or about.vararg or about.kwarg
    takes_only_stars = takes_any and not (about.posonlyargs or about.args or about.kwonlyargs)
    return bool(marks & _MARKS) or takes_only_stars or (node.name == "main" and not takes_any)


def _callee(decorator):
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _schema(node, docstring):
    about, properties = node.args, {}
    positional = [*about.posonlyargs, *about.args]
    optional = {each.arg for each in positional[len(positional) - len(about.defaults) :]}
    optional |= {each.arg for each, default in zip(about.kwonlyargs, about.kw_defaults) if default is not None}
    for argument in [*positional, *about.kwonlyargs]:
        hint = argument.annotation
        schema = _PLAIN.get(hint.id if isinstance(hint, ast.Name) else "", {})
        text = docstring.parameters.get(argument.arg)
        properties[argument.arg] = {**schema, **({"description": text} if text else {})}
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "additionalProperties": False, **({"required": required} if required else {})}
