"""Enforces the limits of a run that has a cgroup: the kernel counts and refuses, and this module reads what it counted."""

from .limits import LimitKeeper


class GroupLimitKeeper(LimitKeeper):
    """The limits of one run, from its start on."""

    def __init__(self, limits, worker, reaper, box, objects, group):
        super().__init__(limits, worker, reaper, box, objects)
        self._group, self._cpu_sampled = group, 0.0
        group.limit(limits["memoryMb"], limits["diskMb"], limits["processes"])

    def passed_at_end(self):
        used = self._group.cpu_ms() + self.charged_ms
        self.cpu_seen = self.cpu_before + used
        return self._event() or ("cpu" if used > self._limits["cpuMs"] else None)

    def _is_quiet(self):
        """The kernel bounds memory and processes meanwhile."""
        return self._group.counts_cpu and self._has_hardly_worked()

    def _note_quiet(self):
        """There may be other processes, whose time the kernel counts."""

    def _cpu_ms(self):
        return self._group.cpu_ms() + self.charged_ms

    def _take_stock(self):
        """The kernel does."""

    def final_peak(self, known):
        return self._group.peak(known)

    def _look(self, now, at_once):
        # Orphans would stay, and count as processes.
        self._reaper.collect_orphans()
        return self.passed_at_end() or self._memory_passed() or self._walk(now, at_once)

    def _event(self):
        events = self._group.events()
        if events.kills:
            # It was killed without reaching its own limit, because all runs together reached theirs.
            return "memory" if events.hits else "total-memory"
        return "processes" if events.refusals else None

    def _memory_passed(self):
        used = self._group.memory(self.peak)
        if used > self._memory:
            used = self._group.memory_without_caches()
        self.peak = max(self.peak, used)
        return "memory" if used > self._memory else None

    def _walk(self, now, at_once):
        """Checks what no cgroup counts: files on disk, record locks, and what all processes of a user share."""
        if not self._is_time_to_walk(now, at_once) and not self._objects.is_suspicious:
            return None
        pids = self._reaper.processes()
        self._census.take(pids, self._reaper.orphans_ms)
        return "memory" if self._holds_too_much(True) else self._check_disk(pids)
