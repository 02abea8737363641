"""Copies of a session, in its supervisor: checkpoints, and the branches that are forked from it.

A copy is a process that the session's worker has forked, with the files of that moment. It is stopped and waits for a job like the
worker itself, on the same pipes: only one of them is ever continued, and is then the worker. Processes are found and judged from
outside: a worker that forks something else, or nothing, deceives only itself.
"""

import contextlib
import os
import select
import signal
import time

from ..jail import box_copies
from ..limits import obstacles, watch
from . import frames

# The branch that a session begins with.
MAIN = "main"
# What a worker is asked to do. A trial ends at once: libraries that know of forks end their threads for it.
TRIAL, FORK = (frames.pack(frames.COPY, word) for word in (b"trial", b"fork"))
# Seconds for a process to end.
_LONGEST_END = 1.0
# A fork needs a process in between.
_PROCESSES_OF_FORK = 2
_CHUNK = 65536


class Processes:
    """Stopped processes. A number that has been given to another process is not among them."""

    def __init__(self, pids):
        # By number: the process, its figures, and the CPU time that it had used. The files stay open: all are looked at often.
        self.fds, self._looks = {}, {}
        for pid in pids:
            with contextlib.suppress(OSError):
                self.fds[pid] = os.pidfd_open(pid)
                self._looks[pid] = watch.open_stat(pid), watch.cpu_clock_ms(pid)

    def living(self):
        ended = _ended(self.fds.values())
        return {pid for pid, fd in self.fds.items() if fd not in ended}

    def asleep(self):
        """Those that are stopped, and have done nothing since."""
        return {pid for pid, (figures, worked_ms) in self._looks.items() if _has_slept(pid, figures, worked_ms)}

    def kill(self):
        """Afterwards they do nothing any more, though they still exist."""
        for fd in self.fds.values():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(fd, signal.SIGKILL)

    def end(self):
        """Kills them, and waits for that."""
        self.kill()
        until = time.monotonic() + _LONGEST_END
        for fd in self.fds.values():
            _ended((fd,), max(0, until - time.monotonic()) * 1000)
        self.close()

    def close(self):
        for fd in (*self.fds.values(), *(figures for figures, _ in self._looks.values())):
            os.close(fd)
        self.fds, self._looks = {}, {}


class Copy(Processes):
    def __init__(self, worker, processes, known_files, is_fork):
        """`is_fork`: whether its files are copied, and not moved."""
        super().__init__({worker, *processes})
        self.worker, self.known_files, self.is_fork = worker, known_files, is_fork

    def can_go_on(self):
        """A process that was killed a moment ago still lives."""
        return self.worker in self.living() and watch.is_stopped(self.worker)


class SessionCopies:
    """`run`: the session's SupervisedSession, which carries out what this decides."""

    def __init__(self, run, box, reaper, pipes):
        self._run, self._box, self._reaper = run, box, reaper
        self._pipes = pipes
        self._copies = {}
        # Processes that were killed. To free their memory takes a while.
        self._dying = []
        # The name of the worker as one of several branches; None if it has ended, and copies of it are left.
        self.branch = MAIN
        # The steps of the order that is being carried out.
        self._order = None
        reaper.kept, reaper.asleep = self.processes, self.asleep

    def __bool__(self):
        return bool(self._copies)

    def names(self):
        """Of those that still live. Their own code, or the kernel for want of memory, may have ended some."""
        ended = _ended(copy.fds[copy.worker] for copy in self._copies.values() if copy.worker in copy.fds)
        return [name for name, copy in self._copies.items() if copy.fds.get(copy.worker, -1) not in {*ended, -1}]

    def processes(self):
        known = [each.fds for each in (*self._copies.values(), *self._dying)]
        ended = _ended(fd for fds in known for fd in fds.values())
        return {pid for fds in known for pid, fd in fds.items() if fd not in ended}

    def asleep(self):
        return {pid for copy in self._copies.values() for pid in copy.asleep()}

    def close(self):
        for each in (*self._copies.values(), *self._dying):
            each.close()

    def _end(self, processes):
        """Nothing of them runs any more."""
        processes.kill()
        self._dying.append(processes)

    def _wait_for_dying(self):
        for each in self._dying:
            each.end()
        self._dying = []
        self._reaper.collect_orphans()

    # Branches take turns.

    def switch_to(self, branch):
        """Returns whether the branch is still there; else says so to the server."""
        if branch == self.branch:
            return True
        self._set_aside()
        copy = self._copies.get(branch)
        if copy is None or not copy.can_go_on():
            self._drop(branch)
            self._run.answer_order(False, ["its process was ended"])
            return False
        box_copies.move_in(self._box, branch)
        self._run.artifacts.take_up(copy.known_files, copy.is_fork)
        copy.close()
        del self._copies[branch]
        self._run.adopt(copy.worker)
        self.branch = branch
        return True

    def lose_branch(self):
        """The worker has ended."""
        self.branch = None
        if self._order is not None:
            self._order.close()
            self._order = None

    def _set_aside(self):
        """The worker waits, with all of its processes and its files, until its branch is wanted again. Everything is stopped."""
        if self.branch is None:
            return
        worker = self._run.worker
        copy = Copy(worker, self._reaper.active(), self._run.artifacts.set_aside(), is_fork=False)
        if not watch.is_stopped(worker):
            copy.kill()  # else it would read the messages for another one
        box_copies.move_out(self._box, self.branch)
        self._copies[self.branch] = copy
        self._run.let_worker_go()
        self.branch = None

    def _drop(self, name):
        copy = self._copies.pop(name, None)
        if copy is not None:
            self._end(copy)
        box_copies.remove(self._box, name)

    # Orders of the server.

    def take_order(self, order, is_paused):
        if order["action"] == "drop":
            self._drop_all(order["copies"], is_paused and self._order is None)
        elif is_paused and self._order is None:
            self._order = _ORDERS[order["action"]](self, order["branch"], order["copy"], self._run.limits)
            self.go_on()

    @property
    def is_ordered(self):
        return self._order is not None

    def go_on(self):
        """The worker has paused: goes on with the order."""
        try:
            self._run.resume(next(self._order))
        except StopIteration as done:
            self._order = None
            if done.value is not None:
                self._run.answer_order(self.branch is not None, done.value)

    def _drop_all(self, names, is_paused):
        for name in names:
            self._drop(name)
        if is_paused and self.branch in names:
            self._run.end_worker()
            self.branch = None
            if not self._copies:
                self._run.abandon()

    # They yield messages for the worker, and go on when it has paused. They return the obstacles; None if these are reported already.

    def _save(self, branch, name, limits):
        """Makes a copy of a branch and its files."""
        if not self.switch_to(branch):
            return None
        if obstacles.threads(self._run.worker) and not self._obstacles(limits, has_threads=False):
            yield TRIAL
        if found := self._obstacles(limits):
            return found
        try:
            box_copies.make(self._box, branch)  # while there is room: to set it aside must not fail
            box_copies.copy_out(self._box, name, limits["diskMb"])
        except OSError as error:
            return [f"files: {error.strerror}"]
        is_made = False
        try:
            yield FORK
            is_made = self._keep_fork(name)
        finally:
            if not is_made:
                box_copies.remove(self._box, name)
        return [] if is_made else ["its process did not fork"]

    def _load(self, branch, name, limits):
        """Replaces a branch and its files by a copy, which stays."""
        if self.branch != branch:
            self._set_aside()
        copy = self._copies.get(name)
        if copy is None or not copy.can_go_on():
            self._drop(name)
            return ["the checkpoint is gone, because its process was ended"]
        active = self._reaper.active()
        if found := self._room(limits, _PROCESSES_OF_FORK - len(active)):
            return found
        self._end(Processes(active))
        self._room(limits, _PROCESSES_OF_FORK)  # there is: it only waits, if it must
        self._run.let_worker_go()
        if self.branch is None:  # else its files are in the box, and its place among the copies is empty
            self._drop(branch)
        self.branch = branch
        try:
            box_copies.copy_in(self._box, name)
        except OSError as error:
            self._end_branch()
            return [f"files: {error.strerror}"]
        copy.close()
        del self._copies[name]
        self._run.adopt(copy.worker)
        yield FORK
        fork = self._new_process(copy.worker)
        # The original is the copy again: nothing has run in it but the fork.
        if watch.is_stopped(copy.worker):
            self._copies[name] = Copy(copy.worker, (), copy.known_files, is_fork=True)
        if fork is None:
            self._end_branch()
            return ["its process did not fork"]
        self._run.artifacts.take_up(copy.known_files, is_copy=True)
        self._run.adopt(fork)
        return []

    def _end_branch(self):
        self._run.end_worker()
        self.branch = None

    def _obstacles(self, limits, has_threads=True):
        worker = self._run.worker
        self._reaper.collect_orphans()
        others = self._reaper.active() - {worker}
        if not self._box.can_be_copied:
            return ["the interpreter is in a folder that runs may write to"]
        pipes = {(about.st_dev, about.st_ino) for about in map(os.fstat, self._pipes)}
        return [
            *self._room(limits, _PROCESSES_OF_FORK), *(obstacles.threads(worker) if has_threads else ()), *obstacles.others(others),
            *obstacles.open_files(worker, self._box, pipes), *obstacles.shared_memory(worker, self._box),
        ]

    def _room(self, limits, needed):
        """Makes room by waiting for processes that were killed."""
        most = limits["processes"]
        if len(self._reaper.processes()) + needed <= most:
            return []
        self._wait_for_dying()
        is_enough = len(self._reaper.processes()) + needed <= most
        return [] if is_enough else [f"the limit of {most} processes, which copies count as"]

    def _keep_fork(self, name):
        fork = self._new_process(self._run.worker)
        if fork is not None:
            self._copies[name] = Copy(fork, (), self._run.artifacts.set_aside(), is_fork=True)
        return fork is not None

    def _new_process(self, worker):
        """The only process that the worker has left behind; None if there is not exactly one, and none stays."""
        self._wait_for_dying()
        found = self._reaper.active() - {worker}
        if len(found) == 1 and watch.parent_of(*found) == os.getpid() and watch.is_stopped(*found):
            return found.pop()
        for pid in found:
            Processes({pid}).end()
        self._reaper.collect_orphans()
        return None


_ORDERS = {"save": SessionCopies._save, "load": SessionCopies._load}


def _ended(pidfds, patience_ms=0):
    """Those of processes that have ended, after a wait for the first that does. One look at all."""
    poller, count = select.poll(), 0
    for count, fd in enumerate(pidfds, 1):
        poller.register(fd, select.POLLIN)
    return {fd for fd, _ in poller.poll(patience_ms)} if count else set()


def _has_slept(pid, figures, worked_ms):
    try:
        return watch.stat_fields_of(figures)[0] in b"Tt" and watch.cpu_clock_ms(pid) == worked_ms
    except OSError:
        return False


def empty_pipe(sink):
    """Takes what nobody has read of a pipe of which this process has the other end."""
    fd = os.open(f"/proc/self/fd/{sink}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while os.read(fd, _CHUNK):
            pass
    except BlockingIOError:
        pass
    finally:
        os.close(fd)
