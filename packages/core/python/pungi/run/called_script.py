"""Runs that call a function: the script is a module then, as if other code had imported it."""

import base64
import importlib
import os
import sys
import types

from ..calls.arguments import check
from ..calls.call import perform_call, prepare_call
from ..calls.results import describe_result
from . import report

# Kept from before foreign code could replace them.
_encode_json, _decode_base64 = report.encode_json, base64.b64decode


def check_arguments(call):
    """The problem with the arguments, before any code of the script runs. Arguments that are almost right are converted."""
    schema = call.get("inputSchema")
    if schema is None:
        return []
    call["arguments"], issues = check(schema, call["arguments"])
    return issues


def make_module(filename, package=None):
    """An empty module, registered under its name for code that looks it up there: pickle, dataclasses, type hints."""
    name = filename.rpartition("/")[2].removesuffix(".py").replace(".", "_")
    if package:
        name = package if name == "__init__" else f"{package}.{name}"
    elif name in sys.modules or name in sys.stdlib_module_names:
        name = f"{name}_script"  # others mean another module by it
    module = sys.modules[name] = types.ModuleType(name)
    return module


def enter_package(variables, package, path):
    """Relative imports of the script are those of its package, as with `python -m`. The packages above it are imported."""
    is_init = os.path.basename(path) == "__init__.py"
    variables["__package__"] = package
    if is_init:
        variables["__path__"] = [os.path.dirname(path)]
    above = package.rpartition(".")[0] if is_init else package
    if not above:
        return
    # A package that imports this module itself gets a copy: this one is empty until its code has run.
    name = variables["__name__"]
    own = None if name == "__main__" else sys.modules.pop(name)
    importlib.import_module(above)
    if own is not None:
        sys.modules[name] = own


def call(call, variables):
    """Returns (exit status, report)."""
    function, positional, named, issues = prepare_call(variables, call["function"], call["arguments"])
    if issues:
        return 1, {"issues": issues}
    return 0, {"value": _for_script(variables)(_give_value, function, positional, named)}


def _give_value(function, positional, named):
    return describe_result(perform_call(function, positional, named))


def _on_behalf(work, *arguments):
    return work(*arguments)


def _for_script(variables):
    """Calls on behalf of the script, which the guard of a profile knows by its builtins: a name of the script that refers to
    a function of another module is called by the script, though none of its own code is running."""
    return types.FunctionType(_on_behalf.__code__, {"__builtins__": variables["__builtins__"]})


def encode(about):
    """The report of a call: JSON and, after a zero byte, the bytes of its contents. In the JSON they would make a server, which
    must not trust it, parse for long."""
    data = []
    for content in about.get("value", {}).get("content", ()):
        data.append(_decode_base64(content.pop("base64")))
        content["bytes"] = len(data[-1])
    return b"\0".join([_encode_json(about), b"".join(data)])


def rehearse():
    """In the fork server: makes a sample call, so that what Python creates at the first use of code exists already."""
    variables = {}
    exec("def rehearsal(number: int, words: list[str] = ()): return {'number': number, 'words': words}", variables)
    kinds = {"number": {"type": "integer"}, "words": {"type": "array", "items": {"type": "string"}}}
    for _ in range(20):
        job = {"function": "rehearsal", "arguments": {"number": "1", "words": ["a"]}}
        check_arguments(job | {"inputSchema": {"type": "object", "properties": kinds}})
        encode(call(job, variables)[1])
