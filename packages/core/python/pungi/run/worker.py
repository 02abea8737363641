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
from . import bursts, exercises, font_list, fork_hooks, fresh_pools, frames, job as jobs, last_output, process_title, script, started_as
from . import streams, template
from .empty_stack import OnEmptyStack
from .supervisor_channel import JOB_FD, REPORT_FD, STDIN_FD

# The interpreter adapts code that has run eight times: a template's workers inherit it so, and touch fewer objects.
_REHEARSALS = 9
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
        fork_hooks.renew_main_thread()
        fork_hooks.renew_random_numbers()
        yield from _run(_lock(place), place, _carrier(place), is_hurried, file_gate.let_go)
    except BaseException:
        _die()


def _steps_from_template(place, door):
    """The same with a template: what comes before `serve` is done once."""
    try:
        place.tier.restrict_files(place)
        door = template.keep_only(door)
        _settle_in(place)
        parked = _lock(place)
        for _ in range(_REHEARSALS):
            jobs.rehearse(place.box.work, place.box.temporary)
        carry_out, has_folders = _carrier(place), bool(place.box.data) or font_list.is_found()
        gc.collect()
        fresh_pools.begin()
        gc.freeze()
        is_hurried = template.serve(door, parked)
        os.setsid()
        if has_folders:
            _fill_folders(place.box)
        yield from _run(parked, place, carry_out, is_hurried, is_announced=is_hurried)
    except BaseException:
        _die()


def _run(parked, place, carry_out, is_hurried, let_go=None, is_announced=False):
    """`carry_out`: returns the steps of a job. `let_go`: closes what the worker has kept for its supervisor. `is_announced`: its supervisor has said that it is parked."""
    job, status = _park(parked, place, is_hurried, is_announced), 0
    if let_go is not None:
        let_go()
    if job is not None:
        _take_stdin(job)
        status = yield from carry_out(job)
    _exit(status)  # a worker serves one run


def _carrier(place):
    """Returns the function that carries out a job. It has what it needs at hand: a new process copies a page for every name that it looks
    up in a module or an object."""
    outside, work, temporary, data = place.tasks_outside, place.box.work, place.box.temporary, place.box.data
    bound_tasks, bound_run, run = limits.bound_tasks, limits.bound_run, jobs.run

    def carry_out(job):
        bound_tasks(outside, job["limits"]["processes"])
        return run(job, work, temporary, bound_run, data)

    return carry_out


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


def _park(parked, place, is_hurried, is_announced):
    """Waits for the job. A worker that a caller may wait for is not warmed up, unless it is still parked when there is time."""
    if not is_hurried:
        _warm_up(place.box)
        gc.freeze()  # existing objects are left alone when the script's objects are collected
    if not is_announced:
        os.write(REPORT_FD, parked)
    while (frame := frames.read_frame(JOB_FD)) is not None:
        kind, payload = frame
        if kind == frames.JOB:
            return _scan(payload.decode("utf-8", "surrogatepass"), 0)[0]
        _warm_up(place.box)
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


def _warm_up(box):
    jobs.rehearse(box.work, box.temporary)
    exercises.repeat()
