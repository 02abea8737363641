"""Loads and inspects a script as `pungi wrap` does, in a process of its own, for tests of what is found."""

import importlib.util
import json
import os
import resource
import shutil
import sys
import tempfile
import traceback
import types
import unittest

import python_half  # noqa: F401
from pungi import discovery
from pungi.run import report
from pungi.discovery.entry_points import time_limit

# In the script: a module of another package, with classes that declare no fields.
FOREIGN = """
import sys, types
def _package(name, *classes):
    module = sys.modules[name] = types.ModuleType(name)
    exec("\\n".join(f"class {each}: ..." for each in classes), module.__dict__)
    return module
"""


def needs(*packages):
    """Decorates tests with packages that this interpreter may not have."""
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    return unittest.skipIf(absent, f"{', '.join(absent)} is not installed")


STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BOOLEAN, NULL = {"type": "boolean"}, {"type": "null"}


def inspected(source, filename="script.py", **job):
    """All that is found. The script is run in a forked process, in a folder that is removed afterwards."""
    folder = tempfile.mkdtemp()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(writing, folder, {"code": source, "filename": filename, **job})
    os.close(writing)
    try:
        with open(reading, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = json.loads(answer)
    if "failure" in found:
        raise AssertionError(found["failure"])
    return found


def _answer(writing, folder, job):
    try:
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        answer = _inspect(job, os.path.join(folder, job["filename"]))
    except BaseException:
        answer = {"failure": traceback.format_exc()}
    with open(writing, "wb") as pipe:
        pipe.write(report.encode_json(answer))
    os._exit(0)


def _inspect(job, path):
    module = discovery.module_of(job)
    code = compile(module.source, path, "exec", dont_inherit=True)
    sys.argv = [job["filename"]]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(job["code"])
    sys.path.insert(0, os.getcwd())
    scope, error = None, None
    if discovery.is_loaded(module):
        name = module.stem
        loaded = sys.modules[name] = types.ModuleType(name)
        scope = loaded.__dict__
        scope["__file__"] = path
        try:
            with time_limit(20):
                exec(code, scope)
        except BaseException as raised:
            error = report.describe_exception(raised, path)
    if error is not None and error["missingModule"]:
        return discovery.discover(job) | {"problem": discovery.problem_of(module, error)}

    def run_main():
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        main.__file__ = path
        exec(code, main.__dict__)

    return discovery.inspect(job, module, path, scope, error, run_main)


def find(source):
    found = inspected(source)
    return found["functions"], found["remarks"]


def one_tool(source):
    """The only function of a script."""
    (tool,), _ = find(source)
    return tool


def schema_of(annotation, before=""):
    """Of a parameter with this annotation, with its definitions put into it."""
    return one_tool(f"{before}\ndef function(value: {annotation}): ...")["inputSchema"]["properties"]["value"]


def result_of(annotation, before=""):
    return one_tool(f"{before}\ndef function() -> {annotation}: ...")["outputSchema"]


def remarks_of(source):
    """(line, name, reason, whether it is skipped) of each."""
    _, remarks = find(source)
    return [(each["line"], each["name"], each["reason"], each["isSkipped"]) for each in remarks]
