"""Ends the processes of a run, collects them and records what they used."""

import os
import signal
import sys
import time

from . import watch

_MOMENT = 0.0005
# A process that waits stops in less than this; one that works takes longer.
_SHORT_MOMENT = 0.00005
# Processes that could wake each other are stopped if they are found so this often, within so many seconds.
_CALM_LOOKS, _MOST_STOPPING = 2, 1.0
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Reaper:
    """The reaper of one worker and of all that it starts: they descend from this process."""

    worker_status = None
    # The time of all that were collected, and of those among them that were not the worker.
    cpu_ms = orphans_ms = 0.0
    peak = 0
    # Returns the processes of stopped copies of a session, which are neither continued nor ended with the worker.
    kept = frozenset
    # Returns those of them that are stopped and have done nothing since.
    asleep = frozenset
    # Figures of the worker (glance.py), if they can be read.
    glance = None
    # Every process of the run while all are stopped.
    _stopped = None

    def __init__(self, worker, by_pidfd=False, template=None):
        """`by_pidfd`: a signal to a number would be a question to ourselves (signal_gate.py). `template`: is no process of the run."""
        self._worker, self._template = worker, template
        self._kill = _kill_by_pidfd if by_pidfd else _kill

    def processes(self):
        """Every process of the run."""
        return self._find() if self._stopped is None else list(self._stopped)

    def _find(self):
        return watch.descendants_of(os.getpid())

    def follow(self, worker, glance):
        """Another process is the worker from here on."""
        self._worker, self.worker_status, self.glance, self._stopped = worker, None, glance, None

    def look(self):
        """Collects the worker if it has ended."""
        if self.worker_status is None:
            self._collect(self._worker, os.WNOHANG)
        return self.worker_status

    def ask(self, number, seconds):
        """Sends the worker a signal. No other process of the run does anything from here on. Returns a function: whether the worker
        waits for a processor, and has had one for less than so many seconds."""
        for pid in self.processes() if watch.HAS_PROC else ():
            if pid != self._worker:
                self._kill(pid, signal.SIGSTOP)
        until = watch.cpu_clock_ms(self._worker) + seconds * 1000 if watch.HAS_PROC and not watch.is_ended(self._worker) else 0
        self._kill(self._worker, number)
        return lambda: until > 0 and watch.is_at_work(self._worker, until)

    def collect_orphans(self):
        """Processes whose parents have ended are our children, too."""
        try:
            while self._collect(-1, os.WNOHANG):
                pass
        except ChildProcessError:
            return

    def kill_all(self):
        """Ends every process of the run and collects it. Nobody is left to write, fork or hold a pipe afterwards."""
        try:
            while True:
                self.signal_all()
                self._wait()
        except ChildProcessError:
            return

    def kill_active(self):
        """The same, but for stopped copies of a session."""
        while left := self.active():
            if self._stopped is None:
                self.stop_all()
            for pid in self.active():
                self._kill(pid, signal.SIGKILL)
            self._stopped = None
            self.collect_orphans()
            if left == self.active():
                time.sleep(_MOMENT)

    def active(self):
        """The processes that belong to no stopped copy. One that has ended while its parent is stopped stays, and is nothing."""
        ours = os.getpid()
        return {pid for pid in self._all() - self.kept() if not (watch.is_ended(pid) and watch.parent_of(pid) not in (None, ours))}

    def signal_all(self):
        """Afterwards no process of the run does anything any more, though it may still exist."""
        if not watch.HAS_PROC:
            _kill(-self._worker)
            return
        # Stopped first, so that nothing forks faster than it is found.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in watch.descendants_of(os.getpid()):
                self._kill(pid, number)

    def signal_worker(self):
        """The same for a worker that was seen alone."""
        self.signal_all()

    def stop_all(self, has_forked=False):
        """Afterwards no process of the run does anything until it is continued. Returns False if they keep waking each other.
        `has_forked`: the worker is hardly alone."""
        self._stopped = None
        if not has_forked and self._stop_alone():
            return True
        until, signalled, calm, pause = time.monotonic() + _MOST_STOPPING, set(), 0, _SHORT_MOMENT
        while calm < _CALM_LOOKS:
            awake = self._all() - self.asleep() if not signalled else self.awake(signalled)
            calm = 0 if awake else calm + 1
            for pid in awake:
                self._kill(pid, signal.SIGSTOP)
            signalled |= awake
            if awake:
                if time.monotonic() > until:
                    return False
                time.sleep(pause)
                pause = min(2 * pause, _MOMENT)
        return True

    def _stop_alone(self):
        """The usual session has one process with one thread: nobody can wake it but itself (supervised_run.py), or a copy that
        does something. Returns whether it is so."""
        if self.glance is None:
            return False
        self._kill(self._worker, signal.SIGSTOP)
        # Until it is stopped, it could wake a copy.
        is_alone = self._is_alone(is_stopped=bool(self.kept()))
        if is_alone:
            self._stopped = self.kept() | {self._worker}
        return is_alone

    def _is_alone(self, is_stopped):
        kept = self.kept()
        try:
            return (not is_stopped or watch.is_stopped(self._worker)) and self.glance.is_only(kept) and self.asleep() == kept
        except (OSError, IndexError):
            return False  # it has ended

    def make_sure(self):
        """After `stop_all`, when nobody waits: a worker that was just starting a process, or a thread, has done so when it is stopped.
        Returns False if they keep waking each other."""
        return self._stopped is None or self._is_alone(is_stopped=True) or self.stop_all(has_forked=True)

    def awake(self, signalled=()):
        """The processes that are not stopped. `signalled`: those that stop when the kernel lets them."""
        self._stopped = None
        return {pid for pid in self._all() - self.asleep() if watch.is_awake(pid, has_signal=pid in signalled)}

    def continue_all(self):
        found, self._stopped = self._all() - self.kept(), None
        for pid in found:
            self._kill(pid, signal.SIGCONT)

    def interrupt(self):
        """Signals the worker and the processes in its group, as a terminal does. The worker comes first: it may wait for one of them."""
        self._kill(self._worker, signal.SIGINT)
        for pid in self._all() - self.kept() - {self._worker}:
            if watch.group_of(pid) == self._worker:
                self._kill(pid, signal.SIGINT)

    def _all(self):
        return set(self.processes()) if watch.HAS_PROC else {self._worker}

    def _wait(self):
        """Collects the processes that have ended, or that end within a moment."""
        has_collected = False
        while self._collect(-1, os.WNOHANG):
            has_collected = True
        if not has_collected:
            time.sleep(_MOMENT)

    def _collect(self, which, flags):
        pid, status, used = os.wait4(which, flags)
        if pid and self._template is not None and pid == self._template.pid:
            self._template.forget()
        elif pid:
            self._stopped = None
            # Its own use and that of the processes it had waited for.
            cpu_ms = (used.ru_utime + used.ru_stime) * 1000
            self.cpu_ms += cpu_ms
            self.orphans_ms += cpu_ms if pid != self._worker else 0.0
            self.peak = max(self.peak, used.ru_maxrss * _MAXRSS_UNIT)
        if pid == self._worker:
            self.worker_status = status
        return pid


class NamespaceReaper(Reaper):
    """The processes of the pid namespace whose first process this is."""

    def _find(self):
        template = None if self._template is None else self._template.pid
        return [pid for pid in watch.processes_in_namespace() if pid != template]

    def kill_all(self):
        """The template stays if the worker was all there was. Every process without a parent is our child, so no other can be hidden."""
        if self._template is not None and self._template.pid is not None:
            if self.worker_status is None:
                _kill(self._worker)
                self._collect(self._worker, 0)
            if watch.own_children() == [self._template.pid]:
                return
        super().kill_all()

    def signal_all(self):
        _kill(-1)

    def signal_worker(self):
        _kill(self._worker)

    def _wait(self):
        self._collect(-1, 0)


def _kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _kill_by_pidfd(pid, number=signal.SIGKILL):
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(fd, number)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        os.close(fd)
