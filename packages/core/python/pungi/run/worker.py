"""The worker: parked, given one run, dead afterwards. All of it but the script (script_run.py) happens before foreign code exists.

Its template (template.py), if it has one, goes the first part of the way in its place."""

import fcntl
import gc
import json
import os
import signal
import sys

from ..jail import data_folders, file_gate, substitutes, system
from ..limits import limits
from . import bursts, exercises, font_list, fork_hooks, frames, job as jobs, last_output, process_title, script, script_run, started_as
from . import streams, template
from .empty_stack import OnEmptyStack
from .supervisor_channel import JOB_FD, REPORT_FD, STDIN_FD

# Kept from before foreign code could replace them.
_exit = os._exit
# Without what json.loads looks for around the value: a job has none.
_scan = json.JSONDecoder().scan_once


def begin(place, is_hurried, pipes):
    """In the new process, first. Never returns: the steps of the worker run on an empty stack."""
    _enter_group(place)
    raise OnEmptyStack(_steps(place, is_hurried, pipes))


def begin_as_template(place, door):
    """The same for a template of workers, which begin where it is."""
    _enter_group(place)
    raise OnEmptyStack(_steps_from_template(place, door))


def _enter_group(place):
    try:
        if place.group is not None:
            place.group.enter()  # while its descriptors are open
    except BaseException:
        _die()


def _steps(place, is_hurried, pipes):
    """The lifecycle of the worker. Functions that it yields run with no frame of ours below them. It ends the process."""
    try:
        place.tier.restrict_files(place)
        _take_over(pipes)
        _settle_in(place)
        _fill_folders(place.box)
        fork_hooks.renew_random_numbers()
        yield from _run(_lock(place), place, is_hurried, file_gate.let_go)
    except BaseException:
        _die()


def _steps_from_template(place, door):
    """The same with a template: what comes before `serve` is done once."""
    try:
        place.tier.restrict_files(place)
        door = template.keep_only(door)
        _settle_in(place)
        parked = _lock(place)
        script_run.rehearse()
        gc.collect()
        gc.freeze()
        is_hurried = template.serve(door)
        os.setsid()
        _fill_folders(place.box)
        yield from _run(parked, place, is_hurried)
    except BaseException:
        _die()


def _run(parked, place, is_hurried, let_go=None):
    """`let_go`: closes what the worker has kept for its supervisor."""
    job, status = _park(parked, is_hurried), 0
    if let_go is not None:
        let_go()
    if job is not None:
        _take_stdin(job)
        limits.bound_tasks(place.tasks_outside, job["limits"]["processes"])
        status = yield from jobs.run(job, place.box.work, place.box.temporary, limits.bound_run, place.box.data)
    _exit(status)  # a worker serves one run


def _die():
    sys.excepthook(*sys.exc_info())
    _exit(70)


def _take_over(pipes):
    _take_descriptors(*pipes)
    os.setsid()
    if system.IS_LINUX:
        system.set_dumpable(True)  # unlike the supervisor, which must be able to inspect this process


def _settle_in(place):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    last_output.promise()
    _settle(place.box)
    bursts.prepare(*streams.outputs)
    process_title.settle()
    limits.bound_signals(place.tier.signals_counted_outside)


def _lock(place):
    """Returns the message that the worker is parked."""
    features = [*place.tier.lock(place), *(place.group.features if place.group is not None else ())]
    about = {"features": features, "python": sys.version.split()[0], "magic": script.MAGIC, "cgroup": place.about_group}
    return frames.pack(frames.PARKED, json.dumps(about).encode())


def _park(parked, is_hurried):
    """Waits for the job. A worker that a caller may wait for is not warmed up, unless it is still parked when there is time."""
    if not is_hurried:
        _warm_up()
        gc.freeze()  # existing objects are left alone when the script's objects are collected
    os.write(REPORT_FD, parked)
    while (frame := frames.read_frame(JOB_FD)) is not None:
        kind, payload = frame
        if kind == frames.JOB:
            return _scan(payload.decode("utf-8", "surrogatepass"), 0)[0]
        _warm_up()
        gc.freeze()
        os.write(REPORT_FD, parked)
    return None


def _take_descriptors(*pipes):
    """Leaves 0 empty, 1 and 2 the output, the job, the report and a later stdin at high numbers, and nothing else."""
    # Out of the way first, so that no target closes a source.
    job, reports, stdout, stderr, stdin = (fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in pipes)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (stdout, 1), (stderr, 2), (stdin, STDIN_FD), (job, JOB_FD), (reports, REPORT_FD)):
        os.dup2(source, target, inheritable=target <= 2)
    os.closerange(3, STDIN_FD)
    os.closerange(REPORT_FD + 1, 4096)


def _take_stdin(job):
    """What the caller writes while the run goes on, if the job says so."""
    if job.get("liveStdin"):
        os.dup2(STDIN_FD, 0)
        streams.open_stdin()
    os.close(STDIN_FD)


def _settle(box):
    os.chdir(box.work)
    substitutes.settle(box)
    os.umask(0o022)
    if os.environ.get("PWD") != box.work:
        started_as.settle_home(HOME=box.work, TMPDIR=box.temporary, PWD=box.work)
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None


def _fill_folders(box):
    if box.data:
        data_folders.link(box.data)
    font_list.offer(box.temporary)


def _warm_up():
    script_run.rehearse()
    exercises.repeat()
