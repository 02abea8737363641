"""Ends the processes of a run, collects them and records what they used."""

import os
import signal
import sys
import time

from . import watch

_MOMENT = 0.0005
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Reaper:
    """The reaper of one worker and of all that it starts: they descend from this process."""

    def __init__(self, worker, by_pidfd=False):
        """`by_pidfd`: a signal to a number would be a question to ourselves (signal_gate.py)."""
        self.worker_status = None
        # The time of all that were collected, and of those among them that were not the worker.
        self.cpu_ms = self.orphans_ms = 0.0
        self.peak = 0
        self._worker = worker
        self._kill = _kill_by_pidfd if by_pidfd else _kill

    def processes(self):
        """Every process of the run."""
        return watch.descendants_of(os.getpid())

    def look(self):
        """Collects the worker if it has ended."""
        if self.worker_status is None:
            self._collect(self._worker, os.WNOHANG)
        return self.worker_status

    def ask(self, number):
        """Sends the worker a signal. No other process of the run does anything from here on."""
        for pid in self.processes() if watch.HAS_PROC else ():
            if pid != self._worker:
                self._kill(pid, signal.SIGSTOP)
        self._kill(self._worker, number)

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

    def signal_all(self):
        """Afterwards no process of the run does anything any more, though it may still exist."""
        if not watch.HAS_PROC:
            _kill(-self._worker)
            return
        # Stopped first, so that nothing forks faster than it is found.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in watch.descendants_of(os.getpid()):
                self._kill(pid, number)

    def stop_all(self):
        """Afterwards no process of the run does anything until it is continued. A stopped process does not fork."""
        stopped = set()
        while starting := self._all() - stopped:
            for pid in starting:
                self._kill(pid, signal.SIGSTOP)
            stopped |= starting

    def continue_all(self):
        for pid in self._all():
            self._kill(pid, signal.SIGCONT)

    def interrupt(self):
        """Signals the worker and the processes in its group, as a terminal does. The worker comes first: it may wait for one of them."""
        self._kill(self._worker, signal.SIGINT)
        for pid in self._all() - {self._worker}:
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
        if pid:
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

    def processes(self):
        return watch.processes_in_namespace()

    def signal_all(self):
        _kill(-1)

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
