"""Runs a validation script and reports what it found."""

import builtins
import os
import sys
import threading
import types
from json import dumps

from .compiling import BytecodeError, load_script, show_lines
from .failing import is_flat
from .problems import describe_error, describe_exit, is_noted
from .shown import shown
from .surroundings import surroundings
from .toolbox import Toolbox

_MOST_RESULT = 250_000


def run_script(job):
    show_lines(job["filename"], job["source"])
    toolbox = Toolbox(job["context"], job["filename"])
    result = None
    try:
        code = load_script(job)
    except BytecodeError as problem:
        error = describe_error(problem, job, "bytecode")
    except (SyntaxError, ValueError, RecursionError) as problem:
        error = describe_error(problem, job, "syntax")
    else:
        with surroundings(job, toolbox):
            result, error = _judge(code, job, toolbox)
    changes = toolbox.session_changes()
    return {
        "failures": toolbox.reported_failures(),
        "logs": toolbox.reported_logs(),
        "session": changes,
        "result": result,
        "error": error,
    }


def _judge(code, job, toolbox):
    """Returns the result of the script, and its problem if it did not finish."""
    result = error = None
    try:
        result = _bounded(_run(code, job, toolbox), toolbox)
    except (MemoryError, BlockingIOError):
        raise  # the supervisor knows whether a limit was the reason (BlockingIOError: the limit of processes)
    except SystemExit as problem:
        error = describe_exit(problem)
    except BaseException as problem:
        if not is_noted(problem, job, toolbox.failures):
            error = describe_error(problem, job, "run")
    _wait_for_threads()
    return result, error


def _run(code, job, toolbox):
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    scope = main.__dict__
    scope.update(toolbox.names(), __builtins__=builtins, __file__=os.path.join(os.getcwd(), job["filename"]))
    sys.argv = [job["filename"]]
    body, last = code
    exec(body, scope)
    if name := job.get("function"):
        return _call(scope, name, toolbox.context)
    return None if last is None else _awaited(eval(last, scope))


def _wait_for_threads():
    """Waits for the threads of the script: their findings count as well."""
    for each in threading.enumerate():
        if each not in (threading.current_thread(), threading.main_thread()) and not each.daemon:
            each.join()


def _bounded(result, toolbox):
    """Returns the result, or notes a failure: a result that cannot be read does not pass."""
    if result is None or type(result) is bool:
        return result
    try:
        if len(dumps(result, default=shown, skipkeys=True)) > _MOST_RESULT:
            why = f"it is larger than {_MOST_RESULT} characters as JSON"
        elif is_flat(result):
            return result
        else:
            why = "it is nested too deeply"
    except RecursionError:
        why = "it holds itself, or is nested too deeply"
    except ValueError as error:
        why = "it holds itself" if "Circular" in str(error) else str(error)
    toolbox.add(f"The result of the script cannot be read: {why}.")
    return None


def _call(scope, name, given):
    function = scope.get(name)
    if not callable(function):
        known = [each for each, value in scope.items() if type(value) is types.FunctionType]
        raise NameError(f"the script has no function {name!r}, only {', '.join(known) or 'no function at all'}")
    code = getattr(function, "__code__", None)
    takes_nothing = code is not None and code.co_argcount == 0 and not code.co_flags & 0x04
    return _awaited(function() if takes_nothing else function(given))


def _awaited(result):
    """Awaits an asynchronous check: before that it has judged nothing."""
    if not hasattr(type(result), "__await__"):
        return result
    import asyncio

    return asyncio.run(_wait_for(result))


async def _wait_for(result):
    return await result
