"""Runs a script as `python FILE` would, then reports how it ended."""

import base64
import builtins
import os
import sys

from ..calls.endings import exit_status
from ..scope import code_summary, scoped_run
from . import called_script, class_files, displays, frames, kept_loop, late_modules, open_files, process_title, prompt, report, script, script_end, started_as, streams
from .supervisor_channel import REPORT_FD, say, say_and_wait

# The list that preloaded modules may hold, as in `def main(args=sys.argv)`.
_ARGV = sys.argv
# Kept from before foreign code could replace them.
_getpid, _exit, _dumps = os.getpid, os._exit, report.encode_json
encode = _dumps
# The report of a script without a value.
_NOTHING = b"{}"


def execute(job, path, source, temporary):
    """Steps of the worker (empty_stack.py); returns the exit status. `source`: the bytes of the file at `path`."""
    worker = _getpid()
    if job.get("summarize"):
        # Now, while no foreign code can write it.
        say(frames.SUMMARY, code_summary.summarize(job["code"], job.get("imports", ())))
    violations, paths = scoped_run.examine(job) if job.get("rules") else ((), ())
    if violations:
        say(frames.REPORT, {"violations": violations})
        return 1
    end, status, about = yield from _go_through(job, path, source, paths, temporary)
    has_failed = status != 0 and bool(about)
    if has_failed:
        # The supervisor checks, while all that the run holds is still held, whether a limit was the reason.
        say_and_wait(frames.pack(frames.REPORT, _dumps(about)) + frames.pack(frames.TROUBLE), worker)
    if job.get("inspect"):
        if not has_failed:
            say_and_wait(frames.pack(frames.FINISHED, _dumps(about)), worker)
        return status  # what the script has started ends with the process
    status = yield from end.leave(status, is_module=job.get("call") is not None)
    if status == 0 and not has_failed:
        encoded = called_script.encode(about) if job.get("call") is not None else _dumps(about) if about else _NOTHING
        say_and_wait(frames.pack(frames.FINISHED, encoded), worker)
    return status


def _go_through(job, path, source, paths, temporary):
    """Runs the steps; returns the end of the script, which has not come yet, the exit status and the report."""
    end = script_end.ScriptEnd(os.path.dirname(path))
    displays.begin(job, path, temporary)
    status, about = yield from _evaluate(job, path, source, paths)
    displays.finish(shows_figures=job.get("call") is None)  # a function returns its pictures
    return end, status, about


def execute_in_session(job, path, source, temporary, session):
    """Steps of the worker; returns the report of the job, encoded."""
    end = script_end.ScriptEnd(os.path.dirname(path))
    displays.begin(job, path, temporary)
    if job.get("interactive") and session.is_new:
        sys.displayhook = prompt.show
    status, about = yield from _evaluate(job, path, source, (), session)
    if not session.is_worker:  # a child that the script forked ends here, as it does without a session
        _exit((yield from end.leave(status, is_module=False)))
    displays.finish(shows_figures=not job.get("interactive"))  # at a prompt, a figure grows until plt.show()
    return encode(about | {"status": status})


def _evaluate(job, path, source, paths, session=None):
    """Runs the steps; returns the exit status and the report."""
    call, absent, worker = job.get("call"), {}, _getpid()
    if call is not None and (issues := called_script.check_arguments(call)):
        return 1, {"issues": issues}
    ending = script.Ending(has_value=call is None and not job.get("inspect") and job.get("hasValue", True), is_kept=session is not None)
    with ending:
        scope = _enter_script(job, path, session)
        run = _prepare(job, path, source, scope, ending, absent, paths, session)
        if session is not None:
            kept_loop.take_out()
            session.begin()
    if ending.error is None and job.get("inspect"):
        with late_modules.importable():
            from ..discovery import inspected_script

        return (yield from inspected_script.steps(job, path, run, scope, ending))
    if ending.error is None:
        try:
            yield run
        except KeyboardInterrupt as error:  # it came when the script had just ended
            ending.error = error
    if session is not None and session.is_worker:
        open_files.flush()
        class_files.note(session.main.__dict__, path)
        ending.error = session.end() or ending.error
        kept_loop.put_away()
    result = 0, ending.about
    if ending.error is None and call is not None:
        with ending:
            result = called_script.call(call, scope)
    error, ending.error = ending.error, None  # the script's code holds the ending, and the garbage collector does not traverse code
    if isinstance(error, SystemExit) and job.get("interactive"):
        return exit_status(error), {"value": {"type": "SystemExit", "repr": "exit"}}
    return result if error is None else _describe(error, path, absent, _getpid() != worker, has_folder=bool(job.get("place")))


def _enter_script(job, path, session):
    """Sets the main module, arguments and paths that the script will see; returns its variables."""
    main_module = sys.modules["__main__"] = script.make_main(path) if session is None else session.main
    is_module = job.get("call") is not None or job.get("inspect")
    module = called_script.make_module(job["filename"], job.get("package")) if is_module else main_module
    scope = module.__dict__
    scope.update({"__builtins__": builtins, "__file__": path} | job["variables"])
    if session is not None:
        scope.setdefault("__name__", "__main__")
        scope.pop("__warningregistry__", None)  # the same line of another script is another place to warn of
    sys.argv = _ARGV
    sys.argv[:] = [job["filename"] if session is None else os.path.basename(path), *job["argv"]]
    sys.orig_argv = ["python", *sys.argv]
    process_title.show(sys.argv)
    return scope


def _prepare(job, path, source, scope, ending, absent, paths, session):
    """The function that runs the script. Adds to `absent` the imports of the profile that are not installed."""
    bytecode = job.get("bytecode")
    code = script.load(base64.b64decode(bytecode), path) if bytecode else script.compile_source(source, path, job.get("interactive", False))
    own = [os.path.dirname(path)] if job.get("place") else []
    if session is not None and not session.is_new:
        sys.path[:0] = [folder for folder in own if folder not in sys.path]
        return script.function_of(code, scope, ending, in_session=True)
    # Before the work folder is searched: a file of the caller must not replace what the profile imports.
    if imports := job.get("imports"):
        absent.update(scoped_run.add_default_imports(imports, scope))
    has_rules = bool(job.get("rules"))
    sys.path[:0] = [*own, os.getcwd(), *(started_as.added_paths(job["env"]) if job["env"] and not has_rules else ())]
    # Under rules, and for a function call, this module imports what the script must not replace.
    if not has_rules and job.get("call") is None and not job.get("inspect"):
        started_as.forget_shadowed([job["filename"], *(file["path"] for file in job["files"]), *filter(None, job.get("sources", ()))], *own)
    if job.get("package"):
        called_script.enter_package(scope, job["package"], path)
    if has_rules:
        scoped_run.install_guard(job, path, scope, paths, REPORT_FD, streams.outputs)
    return script.function_of(code, scope, ending, in_session=session is not None)


def _describe(error, path, absent, is_child, has_folder):
    if isinstance(error, SystemExit):
        return exit_status(error), {}
    status = script_end.call_excepthook(error, is_child)
    about = report.describe_exception(error, path, has_folder)
    return status, {"exception": about | scoped_run.describe_absent(error, absent) if absent else about}


def rehearse(job, path, source, temporary):
    """Runs the script of a job that ends well, but for its end."""
    for step in _rehearsed(job, path, source, temporary):
        step()


def _rehearsed(job, path, source, temporary):
    end, _, about = yield from _go_through(job, path, source, (), temporary)
    displays.forget()
    end.is_worth_while()
    frames.pack(frames.FINISHED, _dumps(about))
