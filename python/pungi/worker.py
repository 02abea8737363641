"""The worker: parked, given one run, dead afterwards. All of it but `execute` happens before foreign code exists."""

import ast
import atexit
import base64
import builtins
import fcntl
import json
import linecache
import marshal
import os
import resource
import signal
import sys
import threading
import time
import types

from . import (
    called_script, code_summary, data_folders, discovery, exercises, frames, limits, report, run_jail, scoped_run, started_as,
    streams, system,
)
from .calls.endings import exit_status, flush_streams

_JOB_FD, _REPORT_FD = 3, 4
# What a pipe holds even where the user has used up its share of them.
_PIPE_ROOM = 4096
_MAGIC = __import__("importlib.util").util.MAGIC_NUMBER.hex()
# Kept from before foreign code could replace them.
_exit, _getpid, _dumps = os._exit, os.getpid, report.encode_json
_write, _read = frames.write_all, frames.read_frame


_BOUNDED = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_DATA)
_hard_limits = {number: resource.getrlimit(number)[1] for number in _BOUNDED}


def prepare_limits():
    """In the fork server, once it has its own limits: workers cannot go above them."""
    _hard_limits.update((number, resource.getrlimit(number)[1]) for number in _BOUNDED)


def main(place, is_hurried, *pipes):
    """Never returns. A worker that somebody may wait for is not warmed up, unless it is still parked when there is time."""
    try:
        if place.group is not None:
            place.group.enter()
        run_jail.restrict_files(place)
        _take_descriptors(*pipes)
        os.setsid()
        if system.IS_LINUX:
            system.set_dumpable(True)  # unlike the supervisor, which must be able to look at us
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _settle(place.box)
        limits.bound_signals(place.tier)
        features = run_jail.lock_worker(place)
        if not is_hurried:
            _warm_up()
        about = {"features": features, "python": sys.version.split()[0], "magic": _MAGIC, "cgroup": place.about_group}
        _say(frames.PARKED, about)
        while (frame := frames.read_frame(_JOB_FD)) is not None:
            kind, payload = frame
            if kind == frames.JOB:
                _exit(run(json.loads(payload), place))
            _warm_up()
            _say(frames.PARKED, about)
        _exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        _exit(70)


def _take_descriptors(*pipes):
    """0 empty, 1 and 2 the output, 3 the job, 4 the report, and nothing else."""
    # Out of the way first, so that no target closes a source.
    job, reports, stdout, stderr = (fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in pipes)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (stdout, 1), (stderr, 2), (job, _JOB_FD), (reports, _REPORT_FD)):
        os.dup2(source, target, inheritable=target <= 2)
    os.closerange(_REPORT_FD + 1, 4096)


def _settle(box):
    os.chdir(box.work)
    os.umask(0o022)
    data_folders.link(box.data)
    if os.environ.get("PWD") != box.work:
        started_as.settle_home(HOME=box.work, TMPDIR=box.temporary, PWD=box.work)
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    if "numpy.random" in sys.modules:
        # The standard library reseeds itself after a fork; numpy's global generator would repeat itself in every run.
        sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "big"))


def _warm_up():
    """Goes the way of a run once: the pages that it writes to are copied now and not while somebody waits."""
    before = sys.argv, list(sys.path), list(sys.meta_path), sys.modules["__main__"]
    job = json.loads(_dumps(_REHEARSAL))
    _evaluate(job, "main.py", job["code"], _enter_script(job, "main.py", job["code"]), ())
    frames.pack(frames.FINISHED, _dumps({"value": {"repr": "1"}}))
    sys.argv, sys.path[:], sys.meta_path[:], sys.modules["__main__"] = before
    linecache.cache.clear()
    exercises.repeat()


_REHEARSAL = {
    "code": "import json\n[str(number) for number in range(20)]\nprint('', end='')\n(1, 'a')",
    "filename": "main.py", "argv": [], "files": [], "env": {}, "variables": {}, "limits": {"timeoutMs": 1.5},
}


def _say(kind, data):
    _write(_REPORT_FD, frames.pack(kind, _dumps(data)))


def _say_and_wait(data, worker):
    """Tells the supervisor and stays until it answers; foreign code may have closed the way, which then is its own loss."""
    if _getpid() != worker:
        return  # a child that foreign code forked and let run on to the end
    try:
        _write(_REPORT_FD, data)
        _read(_JOB_FD)
    except OSError:
        pass


def compile_source(source, filename):
    """Two code objects: everything, and the last expression on its own if the source ends with one."""
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = compile(ast.Expression(tree.body.pop().value), filename, "eval", dont_inherit=True)
    return compile(tree, filename, "exec", dont_inherit=True), last


def run(job, place):
    """Does what the job says and returns the exit status."""
    limits.bound_tasks(place.tasks_outside, job["limits"]["processes"])
    if task := job.get("task"):
        return _look_at(job, _TASKS[task])
    try:
        _set_limits(job["limits"])
        _place_files(job["files"], place.box.work)
        _open_stdin(job["stdin"], place.box.temporary)
    except OSError as error:
        # What was handed over does not fit into the limits.
        _say(frames.REPORT, {"exception": report.describe_exception(error, job["filename"])})
        return 1
    if job["env"]:
        os.environ.update(job["env"])
        time.tzset()
    return execute(job)


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


def _look_at(job, look):
    try:
        answer = look(job)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        _say(frames.REPORT, {"exception": report.describe_exception(error, job["filename"])})
        return 1
    _say(frames.REPORT, answer)
    return 0


def _precompile(job):
    return {"bytecode": base64.b64encode(marshal.dumps(compile_source(job["code"], job["filename"]))).decode()}


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


def execute(job):
    """Runs the code as `python FILE` would, then says how it went."""
    filename, source, worker = job["filename"], job["code"], _getpid()
    if job.get("summarize"):
        # Now, while nobody else can say it.
        _say(frames.SUMMARY, code_summary.summarize(source, job.get("imports", ())))
    violations, paths = scoped_run.examine(job) if job.get("rules") else ((), ())
    if violations:
        _say(frames.REPORT, {"violations": violations})
        return 1
    scope = _enter_script(job, filename, source)
    status, about = _evaluate(job, filename, source, scope, paths)
    has_failed = status != 0 and bool(about)
    if has_failed:
        # The supervisor looks, while all that the run holds is still held, whether a limit was the reason.
        _say_and_wait(frames.pack(frames.REPORT, _dumps(about)) + frames.pack(frames.TROUBLE), worker)
    status = _leave(status)
    if status == 0 and not has_failed:
        told = _dumps(about) if job.get("call") is None else called_script.encode(about)
        _say_and_wait(frames.pack(frames.FINISHED, told), worker)
    return status


def _enter_script(job, filename, source):
    """The main module, arguments and paths that the script will see; gives back its variables."""
    main_module = types.ModuleType("__main__")
    scope = main_module.__dict__ if job.get("call") is None else called_script.make_module(filename).__dict__
    # A module, as in every script; exec would put in the dictionary.
    scope["__builtins__"] = builtins
    scope["__file__"] = os.path.join(os.getcwd(), filename)
    scope.update(job["variables"])
    sys.modules["__main__"] = main_module
    sys.argv = [filename, *job["argv"]]
    sys.orig_argv = [sys.executable, *sys.argv]
    sys.meta_path.insert(0, _ScriptWriter(scope["__file__"], source))
    # Lines as the compiler counts them, each with its end: other separators are part of a line.
    lines = [f"{line}\n" for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    linecache.cache[filename] = (len(source), None, lines, filename)
    return scope


class _ScriptWriter:
    """Processes that multiprocessing does not fork import the script from its file: it is written when they come up."""

    _IMPORTED_BY = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")

    def __init__(self, path, source):
        self._path = path
        self._source = source

    def find_spec(self, name, path=None, target=None):
        if name in self._IMPORTED_BY and not os.path.exists(self._path):
            with open(self._path, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(self._source)


def _evaluate(job, filename, source, scope, paths):
    absent = {}
    call = job.get("call")
    try:
        if call is not None and (issues := called_script.check_arguments(call)):
            return 1, {"issues": issues}
        bytecode = job.get("bytecode")
        body, last = marshal.loads(base64.b64decode(bytecode)) if bytecode else compile_source(source, filename)
        # Before the work folder is searched: a file of the caller's must not stand in for what the profile imports.
        if imports := job.get("imports"):
            absent = scoped_run.bring_imports(imports, scope)
        sys.path.insert(0, os.getcwd())
        if job.get("rules"):
            scoped_run.install_guard(job, scope, paths, _REPORT_FD, streams.outputs)
        exec(body, scope)
        value = eval(last, scope) if last is not None else None
        if call is not None:
            return called_script.call(call, scope)
        return 0, {} if value is None else {"value": report.describe_value(value)}
    except SystemExit as error:
        return exit_status(error), {}
    except BaseException as error:
        about = report.describe_exception(error, filename)
        return 1, {"exception": about | scoped_run.describe_absent(error, absent) if absent else about}


def _leave(status):
    """What an interpreter does on its way out: wait for threads, run atexit handlers, flush."""
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
    except SystemExit as error:
        status = exit_status(error)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    return flush_streams(status)
