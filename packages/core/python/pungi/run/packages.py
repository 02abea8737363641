"""Loads the packages of an environment into the fork server. They are foreign code from their first line.

Everything is reported to the guard before it is loaded, so that the guard can name what fails.
"""

import contextlib
import os
import signal
import site
import sys
import threading
import time

from ..limits import watch
from . import exercises, guard_door, side_effects

LONGEST_IMPORT = 8
_ENDING = 0.1
_STATUS_NOT_PRELOADED = 76
# Variables that keep libraries from starting threads. Runs see the first alone: pyarrow, which pandas loads, would start a thread for good,
# and no session with it could be copied.
_WITHOUT_THREADS = {"JE_ARROW_MALLOC_CONF": "background_thread:false", "NUMEXPR_NUM_THREADS": "1"}
_ONLY_WHILE_LOADING = ("NUMEXPR_NUM_THREADS",)
# Warnings say more where it is loaded, also those of scripts that do not import it.
_IS_NOTICED = "tracemalloc"


def load(door, modules, of_runs=(), longest=LONGEST_IMPORT, learned=()):
    """`learned`: modules that earlier runs have imported; their import must have no side effects.

    Ends this process if a module can be imported only in part: the guard starts a new one without it."""
    known = set(watch.children_of(os.getpid()))
    folder = os.environ["TMPDIR"]  # packages may change that
    os.environ.update(_WITHOUT_THREADS)
    with _naming_files(door):
        site.main()
    for name in modules:
        guard_door.send_report(door, at=name)
        about = name, longest if name in of_runs or name in learned else 0, known
        if (reason := _preload_learned(*about, folder) if name in learned else _preload(*about)) is None:
            guard_door.send_report(door, preloaded=name)
            continue
        guard_door.send_report(door, notPreloaded=name, **reason)
        if not reason["isAbsent"]:
            os._exit(_STATUS_NOT_PRELOADED)
    guard_door.send_report(door, at="what is preloaded")
    exercises.go_through(of_runs)
    _end_threads()
    for variable in _ONLY_WHILE_LOADING:
        os.environ.pop(variable, None)
    sys.modules.pop(_IS_NOTICED, None)  # whoever needs it loads it again


def _end_threads():
    """Numeric libraries (OpenBLAS) end their threads before a fork, and start them again when they are needed: one fork without
    a purpose ends them here, and every run has as many as it may."""
    if not watch.HAS_PROC or len(os.listdir("/proc/self/task")) == 1:
        return
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)


@contextlib.contextmanager
def _naming_files(door):
    """The interpreter starts with -S: .pth files are code of packages, so they run only now, in the jail."""
    add_package, run_customization = site.addpackage, site.execsitecustomize

    def add(folder, name, known_paths):
        guard_door.send_report(door, at=name)
        return add_package(folder, name, known_paths)

    def customize():
        guard_door.send_report(door, at="sitecustomize")
        run_customization()

    site.addpackage, site.execsitecustomize = add, customize
    try:
        yield
    finally:
        site.addpackage, site.execsitecustomize = add_package, run_customization


def _preload(name, seconds, known):
    """Why a module cannot be preloaded, or None.

    Modules that runs bring along have little time: a script must not keep the others of its pool waiting.
    """
    try:
        with _deadline(seconds):
            __import__(name)
    except BaseException as error:  # a module may try to end the interpreter, too
        is_absent = isinstance(error, ModuleNotFoundError) and error.name == name
        return {"isAbsent": is_absent, "reason": f"{type(error).__name__}: {error}"[:1000]}
    return left_behind(known)


def _preload_learned(name, seconds, known, folder):
    with side_effects.SideEffects(folder) as effects:
        reason = _preload(name, seconds, known)
    if reason is None and effects.found is not None:
        return {"isAbsent": False, "reason": f"its import {effects.found}, which runs that import it would not notice"}
    return reason


def left_behind(known):
    """A fork copies one thread: others, and processes that only this one knows, would be missing in every run."""
    if not watch.HAS_PROC:
        return None
    if set(watch.children_of(os.getpid())) - known:
        return {"isAbsent": False, "reason": "it leaves a process running, which runs would not have"}
    _end_threads()
    until = time.monotonic() + _ENDING
    while (count := len(os.listdir("/proc/self/task")) - 1) > 0 and time.monotonic() < until:
        time.sleep(0.001)  # a thread that has been joined may need a moment to be gone
    if count == 0:
        return None
    names = [thread.name for thread in threading.enumerate() if thread is not threading.current_thread()]
    what = ", ".join(names) or "of native code"
    return {"isAbsent": False, "reason": f"it leaves {count} threads running ({what[:200]}), which runs would not have"}


@contextlib.contextmanager
def _deadline(seconds):
    def give_up(number, frame):
        raise TimeoutError(f"it took longer than {seconds} seconds")

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
