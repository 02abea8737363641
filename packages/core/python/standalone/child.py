"""The subprocess of a call: it reads the job, sets the limits, runs the script and writes the result."""

import json
import os
import sys

from .arguments import check
from .call import perform_call, prepare_call
from .child_limits import die_with_wrapper, limit_memory
from .command_words import command_words
from .endings import exit_status, flush_streams
from .failures import describe_failure
from .fences import raise_fences
from .results import describe_result

# The location of the wrapper's own code: one file, or the folders of its modules before they are bundled.
_OWN_PLACES = tuple(sys.modules[__package__].__path__) if __package__ else (os.path.abspath(__file__),)
# Kept from before the script could replace them.
_open, _write, _exit = os.open, os.write, os._exit


def run_child():
    """Never returns."""
    job = _take_job()
    limit_memory(job["memoryMb"])
    job["arguments"], issues = check(job["tool"]["inputSchema"], job["arguments"])
    if issues:
        _write_report(job["result"], {"issues": issues})
        _exit(0)
    is_script = job["tool"]["kind"] == "script"
    if is_script:
        _put_on_standard_input(job)
    raise_fences(job["allowNetwork"], job["allowFileWrite"], job["result"])
    sys.argv = [job["script"], *(command_words(job["tool"], job["arguments"]) if is_script else ())]
    # Whatever a script prints can be written.
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.path.insert(0, _import_root(job))
    status, report = _run_script(job) if is_script else _run_function(job)
    status, report = _wind_up(job, status, report)
    _write_report(job["result"], report)
    _exit(status)


def _take_job():
    """Reads the job from standard input, which then is empty."""
    data = b""
    while not data.endswith(b"\n"):
        part = os.read(0, 1 << 20)
        if not part:
            _exit(0)  # the wrapper is gone
        data += part
    job = json.loads(data)
    lifeline = os.dup(0)
    _take_as_standard_input(os.devnull)
    die_with_wrapper(lifeline)
    return job


def _put_on_standard_input(job):
    text = job["arguments"].get(job["tool"]["stdin"])
    if isinstance(text, str):
        _write_file(job["stdin"], text.encode("utf-8", "surrogatepass"))
        _take_as_standard_input(job["stdin"])


def _take_as_standard_input(path):
    source = _open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    os.dup2(source, 0)
    os.close(source)


def _run_script(job):
    """Runs the script as `python SCRIPT ARGUMENTS` would; returns the exit status and the report."""
    try:
        entry = job["tool"].get("entry")
        scope = _enter_module(_module_name(job) if entry else "__main__", job)
        exec(_compile_script(job["script"]), scope)
        return exit_status(SystemExit(scope[entry]())) if entry else 0, {}
    except SystemExit as error:
        return exit_status(error), {}
    except BaseException as error:
        return 1, _failure_on_stderr(error, job)


def _run_function(job):
    """Calls the function. Its output stays its own; its value goes into the report."""
    try:
        scope = _enter_module(_module_name(job), job)
        exec(_compile_script(job["script"]), scope)
        function, positional, named, issues = prepare_call(scope, job["tool"]["function"], job["arguments"])
        if issues:
            return 0, {"issues": issues}
        value = describe_result(perform_call(function, positional, named))
        return 0, {"value": value, "unfit": _hold_to_promise(job["tool"], value)}
    except SystemExit as error:
        status = exit_status(error)
        return status, {"exit": status}
    except BaseException as error:
        return 1, {"exception": describe_failure(error, job["script"], _OWN_PLACES)}


def _hold_to_promise(tool, value):
    """The problem with the value by the tool's schema of results. A value that is almost right is converted."""
    if not tool["outputSchema"] or "json" not in value:
        return []
    promised = {"additionalProperties": True, **tool["outputSchema"]}
    found, issues = check(promised, {"result": value["json"]} if tool["wrapsResult"] else value["json"])
    if not issues:
        value["json"] = found["result"] if tool["wrapsResult"] else found
    return issues


def _import_root(job):
    """The folder of the script; of a module of a package, the one that the package is in."""
    root = os.path.dirname(job["script"])
    for _ in job["package"].split(".") if job["package"] else ():
        root = os.path.dirname(root)
    return root


def _module_name(job):
    name = os.path.splitext(os.path.basename(job["script"]))[0].replace(".", "_")
    if job["package"]:
        return job["package"] if name == "__init__" else f"{job['package']}.{name}"
    # Others mean another module by it.
    return f"{name}_script" if name in sys.modules or name in sys.stdlib_module_names else name


def _enter_module(name, job):
    """Registers a module of that name for pickling and multiprocessing; returns its variables."""
    import builtins

    module = type(sys)(name)
    module.__file__ = path = job["script"]
    module.__builtins__ = builtins
    if package := job["package"]:
        import importlib

        module.__package__ = package
        is_init = os.path.basename(path) == "__init__.py"
        if is_init:
            module.__path__ = [os.path.dirname(path)]
        above = package.rpartition(".")[0] if is_init else package
        if above:
            importlib.import_module(above)
    # After the packages above: one that imports this module itself gets a copy, as with `python -m`.
    sys.modules[name] = module
    return module.__dict__


def _compile_script(path):
    with open(path, "rb") as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def _failure_on_stderr(error, job):
    """Prints the traceback to stderr, as if the script ran by hand; the report has its parts."""
    report = describe_failure(error, job["script"], _OWN_PLACES)
    try:
        sys.stderr.write(report["traceback"])
    except Exception:
        pass
    return {"exception": report}


def _wind_up(job, status, report):
    """Does what an interpreter does when it exits, except for tearing itself down: it waits for threads, runs atexit handlers
    and flushes."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        if "atexit" in sys.modules:
            sys.modules["atexit"]._run_exitfuncs()
    except SystemExit as error:
        status = exit_status(error)
    except BaseException as error:
        status, report = 1, report if "exception" in report else _failure_on_stderr(error, job)
    return flush_streams(status), report


def _write_report(path, report):
    _write_file(path, json.dumps(report, ensure_ascii=True).encode())


def _write_file(path, data):
    data = memoryview(data)
    descriptor = _open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    while data:
        data = data[_write(descriptor, data):]
    os.close(descriptor)
