"""The worker: parked, given one run, dead afterwards. All of it but the script (script_run.py) happens before foreign code exists."""

import ast
import base64
import fcntl
import gc
import importlib.util
import json
import os
import resource
import signal
import sys
import time

from . import (
    data_folders, discovery, exercises, file_gate, font_list, frames, last_output, limits, process_title, report, scoped_run,
    script, script_run, started_as, streams, substitutes, system,
)
from .empty_stack import OnEmptyStack
from .supervisor_channel import JOB_FD, REPORT_FD, say

# What a pipe holds even where the user has used up its share of them.
_PIPE_ROOM = 4096
# What bytecode is good for: the interpreter, and what we make of a script.
_MAGIC = f"{importlib.util.MAGIC_NUMBER.hex()}-{script.FORMAT}"
# Kept from before foreign code could replace them.
_exit, _write = os._exit, frames.write_all


_BOUNDED = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_DATA)
_hard_limits = {number: resource.getrlimit(number)[1] for number in _BOUNDED}


def prepare_limits():
    """In the fork server, once it has its own limits: workers cannot go above them."""
    _hard_limits.update((number, resource.getrlimit(number)[1]) for number in _BOUNDED)


def begin(place, is_hurried, *pipes):
    """In the new process, first. Never returns: all that the worker does is done by its steps, on an empty stack."""
    try:
        if place.group is not None:
            place.group.enter()  # while its descriptors are open
    except BaseException:
        _die()
    raise OnEmptyStack(_steps(place, is_hurried, pipes))


def _steps(place, is_hurried, pipes):
    """The worker's life. Functions that it yields run with no frame of ours below them. It ends the process."""
    try:
        features = _settle_in(place, pipes)
        job = _park(features, place, is_hurried)
        yield from run(job, place) if job is not None else ()
        _exit(0)
    except BaseException:
        _die()


def _die():
    sys.excepthook(*sys.exc_info())
    _exit(70)


def _settle_in(place, pipes):
    place.tier.restrict_files(place)
    _take_descriptors(*pipes)
    os.setsid()
    if system.IS_LINUX:
        system.set_dumpable(True)  # unlike the supervisor, which must be able to look at us
    signal.signal(signal.SIGINT, signal.default_int_handler)
    last_output.promise()
    _settle(place.box)
    process_title.settle()
    limits.bound_signals(place.tier.signals_counted_outside)
    return [*place.tier.lock(place), *(place.group.features if place.group is not None else ())]


def _park(features, place, is_hurried):
    """Waits for the job. A worker that somebody may wait for is not warmed up, unless it is still parked when there is time."""
    if not is_hurried:
        _warm_up()
    about = {"features": features, "python": sys.version.split()[0], "magic": _MAGIC, "cgroup": place.about_group}
    gc.freeze()  # what is there is left alone when the script's objects are collected
    say(frames.PARKED, about)
    while (frame := frames.read_frame(JOB_FD)) is not None:
        kind, payload = frame
        if kind == frames.JOB:
            file_gate.let_go()
            return json.loads(payload)
        _warm_up()
        gc.freeze()
        say(frames.PARKED, about)
    return None


def _take_descriptors(*pipes):
    """0 empty, 1 and 2 the output; the job and the report high up; and nothing else."""
    # Out of the way first, so that no target closes a source.
    job, reports, stdout, stderr = (fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in pipes)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (stdout, 1), (stderr, 2), (job, JOB_FD), (reports, REPORT_FD)):
        os.dup2(source, target, inheritable=target <= 2)
    os.closerange(3, JOB_FD)
    os.closerange(REPORT_FD + 1, 4096)


def _settle(box):
    os.chdir(box.work)
    substitutes.settle(box)
    os.umask(0o022)
    data_folders.link(box.data)
    if os.environ.get("PWD") != box.work:
        started_as.settle_home(HOME=box.work, TMPDIR=box.temporary, PWD=box.work)
    font_list.offer(box.temporary)
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    if "numpy.random" in sys.modules:
        # The standard library reseeds itself after a fork; numpy's global generator would repeat itself in every run.
        sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "big"))


def _warm_up():
    script_run.rehearse()
    exercises.repeat()


def run(job, place):
    """Steps that do what the job says and end the process."""
    limits.bound_tasks(place.tasks_outside, job["limits"]["processes"])
    path = os.path.join(place.box.work, job["filename"])
    if task := job.get("task"):
        _exit(_look_at(job, path, _TASKS[task]))
    try:
        _set_limits(job["limits"])
        _place_files(job["files"], place.box.work)
        source = script.write(path, job["code"])
        _open_stdin(job["stdin"], place.box.temporary)
    except OSError as error:
        # What was handed over does not fit into the limits.
        say(frames.REPORT, {"exception": report.describe_exception(error, path)})
        _exit(1)
    if job["env"]:
        os.environ.update(job["env"])
        started_as.take_variables(job["env"])
        time.tzset()
    _exit((yield from script_run.execute(job, path, source)))


def _set_limits(most):
    memory = most["memoryMb"] * 1024 * 1024
    _bound(resource.RLIMIT_NOFILE, most["openFiles"])
    _bound(resource.RLIMIT_FSIZE, most["diskMb"] * 1024 * 1024)
    _bound(resource.RLIMIT_CPU, most["cpuMs"] // 1000 + 2)
    # The supervisor holds a run to its memory; this only makes one absurd request fail at once, with a traceback.
    _bound(resource.RLIMIT_DATA, max(2 * memory, memory + (1 << 30)))


def _bound(resource_number, value):
    hard = _hard_limits[resource_number]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(resource_number, (value, value))


def _place_files(files, folder):
    for file in files:
        path = os.path.join(folder, file["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as target:
            target.write(base64.b64decode(file["base64"]))


def _open_stdin(text, folder):
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        return
    if len(data) <= _PIPE_ROOM:
        source, sink = os.pipe()
        _write(sink, data)
        os.close(sink)
    else:
        path = os.path.join(folder, ".stdin")
        source = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        os.unlink(path)
        _write(source, data)
        os.lseek(source, 0, os.SEEK_SET)
    os.dup2(source, 0)
    os.close(source)
    streams.open_stdin()


def _look_at(job, path, look):
    try:
        script.write(path, job["code"])  # the compiler reads the line that it complains of
        answer = look(job)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
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


_TASKS = {"compile": _precompile, "imports": _foreign_imports, "check": scoped_run.look, "discover": discovery.discover}
