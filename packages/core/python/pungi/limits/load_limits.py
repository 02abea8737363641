"""Limits of the fork server, enforced from outside: on packages while they load, and on what they leave behind."""

import os
import signal
import time

from ..jail import system
from . import census, free_memory, watch

# What stays free beside a copy of the packages' memory: others take some meanwhile.
_SPARE = 64 << 20
# Enough for torch, whatever runs may have.
_LEAST_MEMORY_MB = 1024
# Some packages start a program to inspect the machine, or threads.
_MOST_TASKS = 64
_MOST_PRINTED = {"loading": 1 << 20, "serving": 16 << 20}
_SAMPLE_EVERY = {"entering": 0.1, "loading": 0.010, "serving": 1.0}
# Seconds of uninterrupted computing. A fork takes milliseconds: a fork server that computes for so long does not serve.
_LONGEST_BUSY = 30
_ENTRIES_PER_MB = 256
# Seconds for which there may be more supervisors than the server wants: some are just ending.
_LONGEST_CROWD = 5
# A supervisor ends a run that exceeds its limit. A process with this many times as much a second later has no supervisor.
_FAR_TOO_MUCH = 1.5


def memory_bytes(settings):
    return max(settings["memoryMb"], _LEAST_MEMORY_MB) << 20


class LoadLimits:
    def __init__(self, settings, work):
        self._memory = memory_bytes(settings)
        self._disk_mb, self._work = settings["diskMb"], work
        self._seconds = settings["preloadTimeoutMs"] / 1000
        self._deadline = time.monotonic() + self._seconds
        self.too_slow = f"took longer than {self._seconds:g} seconds (PRELOAD_TIMEOUT_MS)"
        self._stage = "entering"
        # Processes of our own that were started before any package was loaded.
        self._ours = set()
        self._next_sample = self._next_walk = self._cpu_ms = self._busy = self._crowded = 0
        self._most_children, self._memory_of_run = settings["mostSupervisors"], settings["memoryMb"] << 20
        # Bytes of a file that holds its memory, or could.
        self._lent = 0
        # Children of the fork server that had far too much at the last sample.
        self._suspects = set()

    def patience_ms(self):
        return _SAMPLE_EVERY[self._stage] * 1000

    def begin(self, pid):
        """Called before any package is loaded."""
        self._stage = "loading"
        self._ours = set(watch.descendants_of(pid))

    def check(self, pid, stage, printed):
        """The limit that packages exceeded, as text, or None."""
        self._stage = stage
        now = time.monotonic()
        if stage != "serving" and now >= self._deadline:
            return self.too_slow
        if now < self._next_sample or not watch.HAS_PROC:
            return None
        self._next_sample = now + _SAMPLE_EVERY[stage]
        if printed > _MOST_PRINTED.get(stage, printed):
            return f"printed more than {_MOST_PRINTED[stage] >> 20} MB"
        return self._check_serving(pid) if stage == "serving" else self._check_loading(pid, now)

    def lends(self, pid, size):
        """Whether the fork server may have a file of this size for its memory: once, while nothing else of packages is running, and if
        the limit and the machine have room for both."""
        use = census.sample([pid])
        if self._lent or size <= 0 or use.tasks > 1 or use.anonymous + size > self._memory or self._others_of(pid):
            return False
        if size + _SPARE > free_memory.free():
            return False
        self._lent = size
        return True

    def left_behind(self, pid):
        """The processes or threads that packages left running. A thread that has been joined may need a moment to be gone."""
        if not watch.HAS_PROC:
            return None
        for _ in range(20):
            if self._others_of(pid):
                left = "left a process running"
            elif census.sample([pid]).tasks > 1:
                left = "left a thread running"
            else:
                return None
            time.sleep(0.01)
        return left

    def _others_of(self, pid):
        """The processes that packages have started."""
        return set(watch.descendants_of(pid)) - self._ours

    def _check_loading(self, pid, now):
        pids = [pid, *watch.descendants_of(pid)]
        use = census.sample(pids)
        if use.tasks > _MOST_TASKS:
            return f"started more than {_MOST_TASKS} processes and threads"
        if use.is_headless:
            return "ended the first thread of a process that goes on"
        memory = self._memory - self._lent
        if use.anonymous > memory and watch.exact_memory(pids) > memory:
            return f"took more than {self._memory >> 20} MB of memory"
        if now >= self._next_walk:
            self._next_walk = now + 0.1
            size, entries = watch.folder_usage(self._work, self._disk_mb * _ENTRIES_PER_MB)
            if size > self._disk_mb << 20 or entries > self._disk_mb * _ENTRIES_PER_MB:
                return f"wrote more than {self._disk_mb} MB, or too many files"
        return None

    def _check_serving(self, pid):
        use = census.sample([pid])
        if use.tasks > 1:
            return "started a thread in the fork server"
        if use.anonymous > self._memory - self._lent:
            return f"took more than {self._memory >> 20} MB of memory in the fork server"
        if system.IS_LINUX:
            before, self._cpu_ms = self._cpu_ms, watch.cpu_clock_ms(pid)
            self._busy = self._busy + 1 if self._cpu_ms - before > 900 * _SAMPLE_EVERY["serving"] else 0
        if self._busy > _LONGEST_BUSY:
            return f"kept the fork server busy for {_LONGEST_BUSY} seconds"
        return self._check_children(pid, use.resident)

    def _check_children(self, pid, inherited):
        """They should be supervisors, but packages may have changed the fork server so that it starts others.

        `inherited`: what each has from the fork server."""
        children = [child for child in watch.children_of(pid) if child not in self._ours and not watch.is_ended(child)]
        self._crowded = self._crowded + 1 if len(children) > self._most_children else 0
        if self._crowded > _LONGEST_CROWD:
            return "started processes in the fork server"
        most = inherited + self._memory_of_run * _FAR_TOO_MUCH
        before, self._suspects = self._suspects, set()
        for child in children:
            pids = [child, *watch.descendants_of(child)]
            use = census.sample(pids)
            if use.is_headless or (use.anonymous > most and watch.exact_memory(pids) > most):
                self._suspects.add(child)
                if child in before:
                    _kill(pids)
        return None


def _kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
