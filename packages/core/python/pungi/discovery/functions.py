"""Finds the functions of a loaded script that can be tools, with their schemas and descriptions."""

import inspect
import sys
import types

from . import parameters
from .class_schemas import is_data
from .docstrings import parse_docstring
from .definitions import with_definitions
from .known_types import NotJson
from .remarks import remark
from .tool_names import ToolNames
from .type_schemas import TypeReader

# Further functions are ignored.
MOST_FUNCTIONS = 1000
_NOTHING = ({}, {"type": "null"})
_CONTEXT_MANAGER = "It returns a context manager, which ends with the call"
_FIXTURE = "It is a fixture of pytest, which only pytest can call"


def find(module, scope):
    """(FunctionTool, …), (Remark, …), as in the contract of wrap. `scope`: the variables of the loaded script."""
    tools, remarks, names = [], [], ToolNames()
    chosen = _chosen(module, scope, remarks)
    for name, function, node in chosen[:MOST_FUNCTIONS]:
        tool, found = _describe(name, function, node, scope, module, names)
        tools += [tool] if tool else []
        remarks += found
    if left := chosen[MOST_FUNCTIONS:]:
        reason = f"It and what follows, {len(left)} functions in all, is not read: a script may have {MOST_FUNCTIONS}"
        remarks.append(remark(_line(left[0][2]), left[0][0], reason, is_skipped=True))
    return tools, remarks


def _chosen(module, scope, remarks):
    """(name, function, its syntax or None) of each, in the order of the script."""
    exported = exported_names(scope)
    defined = {}
    for node in module.definitions():
        function = scope.get(node.name)
        if _is_function(function) and (node.name not in defined or _is_of(function, node)):
            defined.pop(node.name, None)
            defined[node.name] = node
    for name, value in list(scope.items()):
        if name not in defined and _is_function(value) and _is_reexported(name, value, module, exported):
            defined[name] = None
    remarks += _absent(module, scope, exported) + _classes(module, scope, exported)
    is_public = lambda name: name in exported if exported is not None else not name.startswith("_")  # noqa: E731
    return [(name, scope[name], node) for name, node in defined.items() if is_public(name)]


def exported_names(scope):
    """Returns the names in __all__, or None."""
    listed = scope.get("__all__")
    return dict.fromkeys(name for name in listed if isinstance(name, str)) if isinstance(listed, (list, tuple)) else None


def _is_function(value):
    """Accepts results of decorators, such as caches and wrappers, but no classes and no click commands."""
    if isinstance(value, types.FunctionType):
        return True
    return callable(value) and not isinstance(value, type) and isinstance(getattr(value, "__wrapped__", None), types.FunctionType)


def _is_of(function, node):
    """Whether this definition made the function: a name may be defined several times."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return code is None or code.co_name != node.name or first <= code.co_firstlineno <= node.lineno


def _is_reexported(name, function, module, exported):
    """The functions of a package are those that its __init__ takes from its modules, or names in __all__."""
    origin = getattr(function, "__module__", None) or ""
    if exported is not None and name in exported:
        return origin.partition(".")[0] not in sys.stdlib_module_names
    return module.is_package and f"{origin}.".startswith(f"{module.package}.")


def _absent(module, scope, exported):
    names = [name for name in list(exported or ())[:MOST_FUNCTIONS] if name not in scope]
    line = module.line_of("__all__")
    return [remark(line, name, "__all__ names it, but the script does not define it", is_skipped=True) for name in names]


def _classes(module, scope, exported):
    """Returns remarks that public classes do not become tools. Classes for data are types of parameters, and get none."""
    found = []
    for node in module.classes():
        kind = scope.get(node.name)
        is_public = node.name in exported if exported is not None else not node.name.startswith("_")
        if isinstance(kind, type) and is_public and not issubclass(kind, BaseException) and not is_data(kind):
            reason = "It is a class, and only functions become tools: write a function that uses it"
            found.append(remark(node.lineno, node.name, reason, is_skipped=True))
    return found


def _describe(name, function, node, scope, module, names):
    """(the tool or None, its remarks)"""
    line = _line(node)
    if reason := _why_none(function):
        return None, [remark(line, name, reason, is_skipped=True)]
    free = names.free(name)
    if not free:
        reason = "Its name has no letter that the name of a tool may have (a to z, digits, _)"
        return None, [remark(line, name, reason, is_skipped=True)]
    docstring = parse_docstring(inspect.unwrap(function).__doc__ or "")
    try:
        schema, doubts = parameters.read(name, function, node, scope, module, docstring)
        output, wraps = _read_result(function, scope, module)
    except parameters.Refused as refusal:
        return None, [remark(refusal.line, refusal.name, refusal.reason, is_skipped=True)]
    except RecursionError:
        return None, [remark(line, name, "Its types are nested too deeply to be read", is_skipped=True)]
    names.add(free)
    return tool_of(name, free, docstring.description, schema, line, {
        "isAsync": _is_async(function), "wrapsResult": wraps, "outputSchema": output,
    }), doubts


def tool_of(function, name, description, schema, line, more):
    described = {key: each["description"] for key, each in schema["properties"].items() if each.get("description")}
    return {
        "kind": "function", "function": function, "name": name, "description": description, "inputSchema": schema, "line": line,
        "source": {"description": description, "parameters": described}, **more,
    }


def _line(node):
    return 1 if node is None else node.lineno


def _is_async(function):
    inner = inspect.unwrap(function)
    return inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner)


def _why_none(function):
    code = getattr(function, "__code__", None)
    if code is not None and code.co_name == "helper" and code.co_filename.endswith("contextlib.py"):
        return _CONTEXT_MANAGER
    is_fixture = hasattr(function, "_pytestfixturefunction") or type(function).__name__ == "FixtureFunctionDefinition"
    return _FIXTURE if is_fixture else None


def _read_result(function, scope, module):
    """(the schema of the structured content or None, whether the value is put below "result" since it is no object).

    None: nothing is declared, or it is nothing, or it is bytes and pictures, which are no structured content.
    """
    inner = inspect.unwrap(function)
    hints = parameters.annotations_of(inner)
    if hints.get("return") is None:
        return None, False
    reader = TypeReader(getattr(inner, "__globals__", scope), is_result=True, docs=module.field_docs)
    try:
        schema = reader.read_whole(hints["return"])
    except NotJson:
        return None, False
    # An untyped list may contain images, which are returned separately.
    says_nothing = schema in _NOTHING or schema == {"type": "array", "items": {}}
    if says_nothing or reader.doubts or reader.has_pictures:
        return None, False
    target = reader.definitions.get(schema.get("$ref", "").removeprefix("#/$defs/"), schema)
    if target.get("type") == "object":
        return with_definitions(schema, reader.definitions), False
    wrapped = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    return with_definitions(wrapped, reader.definitions), True
