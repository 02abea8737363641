"""Carries out the job of a worker: the files, the script, its streams and variables; or checks code without running it."""

import ast
import base64
import json
import linecache
import os
import stat
import sys
import time

from ..scope import scoped_run
from . import bursts, completion, frames, inputs, late_modules, prompt, report, script, script_run, session as sessions, started_as, streams
from .supervisor_channel import JOB_FD, say

# The capacity of a pipe even if the user has used up its share of them.
_PIPE_ROOM = 4096
_MOST_CPU_MS = 10**12
_BINARY = getattr(os, "O_BINARY", 0)
# Kept from before foreign code could replace them.
_write = frames.write_all


def run(job, work, temporary, set_limits, folders):
    """Steps that carry out the job; returns the exit status. `set_limits` gets the limits of the run. `folders`: name to path of
    the folders of the host that it sees."""
    path = _place_of(job, folders) or os.path.join(work, *(job.get("package") or "").split("."), job["filename"])
    if task := job.get("task"):
        return _look_at(job, path, _TASKS[task])
    if job.get("session"):
        return (yield from _run_session(job, work, temporary, set_limits, folders))
    try:
        set_limits(job["limits"])
        source = _place_inputs(job, path, work, temporary)
    except OSError as error:
        # The input does not fit into the limits.
        say(frames.REPORT, {"exception": report.describe_exception(error, path)})
        return 1
    _set_variables(job["env"])
    bursts.watch(job["limits"]["processes"])
    return (yield from script_run.execute(job, path, source, temporary))


def _run_session(job, work, temporary, set_limits, folders):
    """Carries out one job after the other, until there is no next one. The limits of the first are those of the session, but
    for CPU time, which is that of a job: the supervisor enforces it."""
    set_limits(job["limits"] | {"cpuMs": _MOST_CPU_MS})
    bursts.watch(job["limits"]["processes"])
    session = sessions.Session(script.make_main(os.path.join(work, job["filename"])))
    while job is not None:
        if job.get("task"):
            about = script_run.encode(completion.complete_in_session(job["code"], session))
            job = session.report(about, is_call=False)
            continue
        path = _place_of(job, folders) or session.path_for(os.path.join(work, job["filename"]))
        try:
            if not session.is_new:
                streams.reopen()
            source = _place_inputs(job, path, work, temporary, is_first=session.is_new)
        except OSError as error:
            about = script_run.encode({"exception": report.describe_exception(error, path), "status": 1})
        else:
            _set_variables(job["env"])
            about = yield from script_run.execute_in_session(job, path, source, temporary, session)
            if not job.get("place"):
                session.keep_script(path, source)
        job = session.report(about)
    return 0


def _place_of(job, folders):
    """Where a script lies in a folder that the run sees; None for one that it gets."""
    place = job.get("place") or {}
    if place.get("folder") not in folders:
        job["place"] = None
        return None
    return os.path.join(folders[place["folder"]], place["path"])


def _place_inputs(job, path, work, temporary, is_first=True):
    """Writes the files and the script, and opens stdin; returns the bytes of the script."""
    sources, stdin = job.get("sources", ()), []
    if sources:
        inputs.place(sources, work, lambda: stdin.append(_unnamed_file(temporary)) or stdin[0], JOB_FD)
    if job["files"]:
        _place_files(job["files"], work)
    source = _write_script(job, path)
    if stdin:
        _use_as_stdin(stdin[0])
    else:
        _open_stdin(job["stdin"], temporary, is_first or streams.has_empty_stdin())
    return source


def _set_variables(variables):
    if variables:
        os.environ.update(variables)
        started_as.take_variables(variables)
        if hasattr(time, "tzset"):
            time.tzset()


def _write_script(job, path):
    """A module of a package lies in the folders of that package. A script with a place of its own is there already."""
    if job.get("place"):
        return script.encode(job["code"])
    if job.get("package"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    return script.write(path, job["code"])


def _place_files(files, folder):
    for file in files:
        path = os.path.join(folder, file["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as target:
            target.write(base64.b64decode(file["base64"]))


def _open_stdin(text, folder, is_empty):
    """`is_empty`: whether stdin is empty now."""
    data = text.encode("utf-8", "surrogatepass")
    if not data and is_empty:
        return
    if not data:
        source = os.open(os.devnull, os.O_RDONLY)
    elif len(data) <= _PIPE_ROOM:
        source, sink = os.pipe()
        _write(sink, data)
        os.close(sink)
    else:
        source = _unnamed_file(folder)
        _write(source, data)
    _use_as_stdin(source)


def _unnamed_file(folder):
    path = os.path.join(folder, ".stdin")
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY | getattr(os, "O_TEMPORARY", 0))
    if os.name == "posix":  # elsewhere O_TEMPORARY removes it
        os.unlink(path)
    return opened


def _use_as_stdin(source):
    if not stat.S_ISFIFO(os.fstat(source).st_mode):
        os.lseek(source, 0, os.SEEK_SET)
    if source == 0:  # the script has closed it
        os.set_inheritable(0, True)
    else:
        os.dup2(source, 0)
        os.close(source)
    streams.open_stdin()


def _look_at(job, path, look):
    try:
        _write_script(job, path)  # the compiler reads the line that it reports
        answer = look(job)
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError) as error:
        say(frames.REPORT, {"exception": report.describe_exception(error, path)})
        return 1
    say(frames.REPORT, answer)
    return 0


def _precompile(job):
    code = script.compile_source(script.encode(job["code"]), os.path.abspath(job["filename"]))
    return {"bytecode": base64.b64encode(script.dump(code)).decode()}


def _foreign_imports(job):
    """The top-level modules, not of the standard library, that are imported anywhere in the code."""
    names = set()
    for node in ast.walk(compile(job["code"], job["filename"], "exec", ast.PyCF_ONLY_AST, dont_inherit=True)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return {"imports": sorted(names - sys.stdlib_module_names)}


def _discover(job):
    with late_modules.importable():
        from .. import discovery

    return discovery.discover(job)


def rehearse(work, temporary):
    """Carries out a sample job, but for its end: the pages that it writes to are copied now and not while a caller waits."""
    before = list(sys.argv), list(sys.path), sys.modules["__main__"]
    job = json.loads(report.encode_json(_REHEARSAL))
    path = os.path.join(work, job["filename"])
    source = _place_inputs(job, path, work, temporary)
    _set_variables(job["env"])
    bursts.watch(job["limits"]["processes"])
    script_run.rehearse(job, path, source, temporary)
    os.unlink(path)
    sys.argv[:], sys.path[:], sys.modules["__main__"] = before
    linecache.cache.clear()


_REHEARSAL = {
    "code": "import json\n[str(number) for number in range(20)]\nprint('', end='')\n(1, 'a')",
    "filename": "main.py", "argv": [], "stdin": "", "files": [], "env": {}, "variables": {}, "limits": {"timeoutMs": 1.5, "processes": 1},
}
_TASKS = {
    "compile": _precompile, "imports": _foreign_imports, "check": scoped_run.check, "discover": _discover,
    "complete": lambda job: completion.complete(job["code"], {}), "read": lambda job: prompt.read(job["code"], job["isTyped"]),
}
late_modules.keep("discovery")
