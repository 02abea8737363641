"""Applies a profile to a run: a check of the code before it runs, its default imports, and a guard while it runs."""

import importlib
import os
import sys
import time

from ..calls.shown import cut_middle
from ..run import frames, report, script
from . import code_summary, optional_imports, scope, scope_guard
from .scope_rules import bound_by_import

_MOST_VIOLATIONS = 50
_MAX_TEXT = 500
_WAIT_FOR_KILL = 5
# Saved before foreign code could replace them.
_exit, _getpid, _sleep, _dumps = os._exit, os.getpid, time.sleep, report.encode_json
_pack, _write = frames.pack, frames.write_all


def examine(job):
    """Returns (the violations to report, the paths that the guard checks when modules are loaded)."""
    found, paths = scope.examine(job["code"], job["filename"], job.get("rules") or {})
    return _bounded(found), paths


def check(job):
    """Returns all findings about the code without running it. Raises the compiler's error if it does not compile."""
    compile(script.encode(job["code"]), os.path.abspath(job["filename"]), "exec", dont_inherit=True)
    return {"violations": examine(job)[0], "summary": code_summary.summarize(job["code"], job.get("imports", ()))}


def add_default_imports(imports, variables):
    """Imports the profile's default modules. A module that is not installed in the environment is skipped.

    Returns {name: module} of the skipped ones.
    """
    absent = {}
    for text in imports:
        module = text.partition(" as ")[0]
        name, bound = bound_by_import(text)
        try:
            importlib.import_module(module)
        except ImportError:
            absent.setdefault(name, module)
        else:
            variables[name] = sys.modules[bound]
    return absent


def describe_absent(error, absent):
    """Names the default module that is missing, for code that uses it."""
    # Exactly these classes: a class of the code could run anything when it is inspected.
    if type(error) is not NameError or type(error.name) is not str or error.name not in absent:
        return {}
    return {"missingModule": absent[error.name], "isProfileImport": True}


def install_guard(job, path, variables, paths, report_fd, streams):
    """From now on, any violation ends the run, in whichever process or thread it happens."""
    worker = _getpid()
    flush = type(streams[0]).flush

    def end(violation):
        is_worker = _getpid() == worker
        try:
            # A forked child holds a copy of its parent's unwritten output.
            for stream in streams if is_worker else ():
                flush(stream)
            _write(report_fd, _pack(frames.VIOLATION, _dumps({"violations": _bounded([violation])})))
            if not is_worker:
                _sleep(_WAIT_FOR_KILL)  # until all are killed: a process that waits for this child must not continue
        except (OSError, ValueError):
            pass  # foreign code has closed the pipe; the exit status still reports the failure
        finally:
            _exit(1)

    guarded = optional_imports.lines_of(job["code"], job["filename"])
    scope_guard.install(job["rules"], path, variables, paths, end, guarded)


def _bounded(violations):
    """Bounds the names, which can be as long as the code."""
    return [
        violation | {name: cut_middle(violation[name], _MAX_TEXT) for name in ("what", "message")}
        for violation in violations[:_MOST_VIOLATIONS]
    ]
