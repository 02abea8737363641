"""The worker: parked, given one run, dead afterwards. All of it but the script (script_run.py) happens before foreign code exists."""

import fcntl
import gc
import json
import os
import signal
import sys

from ..jail import data_folders, file_gate, substitutes, system
from ..limits import limits
from . import exercises, font_list, frames, job as jobs, last_output, process_title, script, script_run, started_as
from .empty_stack import OnEmptyStack
from .supervisor_channel import JOB_FD, REPORT_FD, say

# Kept from before foreign code could replace them.
_exit = os._exit


def begin(place, is_hurried, *pipes):
    """In the new process, first. Never returns: the steps of the worker run on an empty stack."""
    try:
        if place.group is not None:
            place.group.enter()  # while its descriptors are open
    except BaseException:
        _die()
    raise OnEmptyStack(_steps(place, is_hurried, pipes))


def _steps(place, is_hurried, pipes):
    """The lifecycle of the worker. Functions that it yields run with no frame of ours below them. It ends the process."""
    try:
        features = _settle_in(place, pipes)
        job = _park(features, place, is_hurried)
        status = 0
        if job is not None:
            limits.bound_tasks(place.tasks_outside, job["limits"]["processes"])
            status = yield from jobs.run(job, place.box.work, place.box.temporary, limits.bound_run)
        _exit(status)  # a worker serves one run
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
        system.set_dumpable(True)  # unlike the supervisor, which must be able to inspect this process
    signal.signal(signal.SIGINT, signal.default_int_handler)
    last_output.promise()
    _settle(place.box)
    process_title.settle()
    limits.bound_signals(place.tier.signals_counted_outside)
    return [*place.tier.lock(place), *(place.group.features if place.group is not None else ())]


def _park(features, place, is_hurried):
    """Waits for the job. A worker that a caller may wait for is not warmed up, unless it is still parked when there is time."""
    if not is_hurried:
        _warm_up()
    about = {"features": features, "python": sys.version.split()[0], "magic": script.MAGIC, "cgroup": place.about_group}
    gc.freeze()  # existing objects are left alone when the script's objects are collected
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
    """Leaves 0 empty, 1 and 2 the output, the job and the report at high numbers, and nothing else."""
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
