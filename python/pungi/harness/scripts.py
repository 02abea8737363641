"""Runs a validation script and tells what it found."""

import builtins
import json
import os
import sys
import types

from .compiling import load_script, show_lines
from .problems import describe_error, describe_exit
from .shown import shown
from .toolbox import Toolbox

_MOST_RESULT = 250_000


def run_script(job):
    show_lines(job["filename"], job["source"])
    toolbox = Toolbox(job["context"], job["filename"])
    result = error = None
    try:
        code = load_script(job)
    except (SyntaxError, ValueError, RecursionError) as problem:
        error = describe_error(problem, job, "syntax")
    else:
        try:
            result = _bounded(_run(code, job, toolbox), toolbox)
        except MemoryError:
            raise  # whether a limit was the reason, others can tell
        except SystemExit as problem:
            error = describe_exit(problem)
        except BaseException as problem:
            error = describe_error(problem, job, "run")
    changes = toolbox.session_changes()
    return {
        "failures": toolbox.failures,
        "logs": toolbox.logs,
        "session": changes,
        "result": result,
        "error": error,
    }


def _run(code, job, toolbox):
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    scope = main.__dict__
    scope.update(toolbox.names(), __builtins__=builtins, __file__=os.path.join(os.getcwd(), job["filename"]))
    sys.argv = [job["filename"]]
    body, last = code
    exec(body, scope)
    if name := job.get("function"):
        return _call(scope, name, toolbox.context)
    return None if last is None else eval(last, scope)


def _bounded(result, toolbox):
    """A result that is too large cannot be judged, so it is none that passes."""
    if result is None or type(result) is bool:
        return result
    try:
        if len(json.dumps(result, default=shown, skipkeys=True)) <= _MOST_RESULT:
            return result
        why = f"it is larger than {_MOST_RESULT} characters as JSON"
    except (ValueError, RecursionError):
        why = "it holds itself, or is nested too deeply"
    toolbox.add(f"What the script gave back cannot be read: {why}.")
    return None


def _call(scope, name, given):
    function = scope.get(name)
    if not callable(function):
        known = [each for each, value in scope.items() if type(value) is types.FunctionType]
        raise NameError(f"the script has no function {name!r}, only {', '.join(known) or 'no function at all'}")
    code = getattr(function, "__code__", None)
    takes_nothing = code is not None and code.co_argcount == 0 and not code.co_flags & 0x04
    result = function() if takes_nothing else function(given)
    if hasattr(type(result), "__await__"):
        import asyncio

        result = asyncio.run(_wait_for(result))
    return result


async def _wait_for(result):
    return await result
