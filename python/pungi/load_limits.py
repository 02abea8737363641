"""Limits of the fork server, from outside: of what packages do while they load, and of what is left of them afterwards."""

import time

from . import census, system, watch

# Enough for torch, whatever runs may have.
_LEAST_MEMORY_MB = 1024
# Some packages start a program to look at the machine, or threads.
_MOST_TASKS = 64
_MOST_PRINTED = {"loading": 1 << 20, "serving": 16 << 20}
_SAMPLE_EVERY = {"entering": 0.1, "loading": 0.010, "serving": 1.0}
# Seconds of nothing but computing. A fork takes milliseconds: whoever computes for so long does not serve.
_LONGEST_BUSY = 30
_ENTRIES_PER_MB = 256


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
        self._next_sample = self._next_walk = self._cpu_ms = self._busy = 0

    def patience_ms(self):
        return _SAMPLE_EVERY[self._stage] * 1000

    def begin(self, pid):
        """Before any package is loaded."""
        self._stage = "loading"
        self._ours = set(watch.descendants_of(pid))

    def check(self, pid, stage, printed):
        """What was done too much of, or None."""
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

    def left_behind(self, pid):
        """What packages started and left running. A thread that has been waited for may need a moment to be gone."""
        if not watch.HAS_PROC:
            return None
        for _ in range(20):
            if set(watch.descendants_of(pid)) - self._ours:
                left = "left a process running"
            elif census.sample([pid]).tasks > 1:
                left = "left a thread running"
            else:
                return None
            time.sleep(0.01)
        return left

    def _check_loading(self, pid, now):
        pids = [pid, *watch.descendants_of(pid)]
        use = census.sample(pids)
        if use.tasks > _MOST_TASKS:
            return f"started more than {_MOST_TASKS} processes and threads"
        if use.anonymous > self._memory and watch.exact_memory(pids) > self._memory:
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
        if use.anonymous > self._memory:
            return f"took more than {self._memory >> 20} MB of memory in the fork server"
        if system.IS_LINUX:
            before, self._cpu_ms = self._cpu_ms, watch.cpu_clock_ms(pid)
            self._busy = self._busy + 1 if self._cpu_ms - before > 900 * _SAMPLE_EVERY["serving"] else 0
        return f"kept the fork server busy for {_LONGEST_BUSY} seconds" if self._busy > _LONGEST_BUSY else None
