"""What a profile adds to a run: a look at the code before anything of it runs, its imports, and a guard while it runs."""

import importlib
import os
import sys
import time

from . import code_summary, frames, report, scope, scope_guard, scope_guarded, script
from .calls.shown import cut_middle
from .scope_rules import bound_by_import

_MOST_VIOLATIONS = 50
_MAX_TEXT = 500
_PATIENCE = 5
# Kept from before foreign code could replace them.
_exit, _getpid, _sleep, _dumps = os._exit, os.getpid, time.sleep, report.encode_json
_pack, _write = frames.pack, frames.write_all


def examine(job):
    """(what is out of scope, as it is told; what the guard has to judge when modules are loaded)."""
    found, paths = scope.examine(job["code"], job["filename"], job.get("rules") or {})
    return _bounded(found), paths


def look(job):
    """All that can be said of the code without running it. Raises what the compiler says of code that is none."""
    compile(script.encode(job["code"]), os.path.abspath(job["filename"]), "exec", dont_inherit=True)
    return {"violations": examine(job)[0], "summary": code_summary.summarize(job["code"], job.get("imports", ()))}


def bring_imports(imports, variables):
    """The profile's own imports. They may lie in any environment, so what is not installed there is passed over.

    Gives back {name: module} of those that could not be had."""
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
    """For code that uses what the profile was to import for it: which module that is."""
    # Exactly these: a class of the code's own could do anything when it is asked.
    if type(error) is not NameError or type(error.name) is not str or error.name not in absent:
        return {}
    return {"missingModule": absent[error.name], "isProfileImport": True}


def install_guard(job, path, variables, paths, report_fd, streams):
    """From now on, whatever leaves the scope ends the run, in whichever process or thread it happens."""
    worker = _getpid()
    flush = type(streams[0]).flush

    def end(violation):
        is_worker = _getpid() == worker
        try:
            # A forked child holds a copy of what its parent has not written yet.
            for stream in streams if is_worker else ():
                flush(stream)
            _write(report_fd, _pack(frames.VIOLATION, _dumps({"violations": _bounded([violation])})))
            if not is_worker:
                _sleep(_PATIENCE)  # until all are killed: whoever waits for this child must not go on meanwhile
        except (OSError, ValueError):
            pass  # foreign code has closed the way; that the run failed is still known by its status
        finally:
            _exit(1)

    guarded = scope_guarded.lines_of(job["code"], job["filename"])
    scope_guard.install(job["rules"], path, variables, paths, end, guarded)


def _bounded(violations):
    """Names in code can be as long as the code."""
    return [
        violation | {name: cut_middle(violation[name], _MAX_TEXT) for name in ("what", "message")}
        for violation in violations[:_MOST_VIOLATIONS]
    ]
