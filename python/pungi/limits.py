"""Holds a run to its limits: looks at what its processes use and names the limit that was passed."""

import os
import resource
import time

from . import system, watch

_SAMPLE_EVERY = 0.010
_WALK_EVERY = 0.100
_TASKS_OF_OTHERS = 256


class LimitKeeper:
    """Of one run, from its start on."""

    def __init__(self, limits, worker, processes, box):
        """`processes`: a function that lists the run's processes."""
        self.peak = 0
        # Whether there was ever more than the worker itself, and the CPU time that was seen of all.
        self.saw_others, self.cpu_seen = False, 0.0
        self.cpu_before = watch.cpu_clock_ms(worker) if system.IS_LINUX else 0.0
        self.started = time.monotonic()
        self._deadline = self.started + limits["timeoutMs"] / 1000
        self._limits = limits
        self._memory = limits["memoryMb"] * 1024 * 1024
        self._processes = processes
        self._box = box
        self._ledger = watch.CpuLedger()
        self._next_sample = self._next_walk = self.started + _SAMPLE_EVERY

    def patience_ms(self):
        """How long nobody needs to look."""
        return max(0, (min(self._deadline, self._next_sample) - time.monotonic()) * 1000)

    def check(self, at_once=False):
        """The limit that was passed, or None. Looks only when it is time to, or at once."""
        now = time.monotonic()
        if now >= self._deadline:
            return "timeout"
        if not at_once and now < self._next_sample:
            return None
        self._next_sample = now + _SAMPLE_EVERY
        return self._look(now, at_once) if watch.HAS_PROC else None

    def passed_at_end(self):
        """The limit that was passed without a look that saw it, where the kernel says so."""
        return None

    def final_peak(self, known):
        """Of all that was used, where it is higher than what is `known`."""
        return known

    def _look(self, now, at_once):
        pids = self._processes()
        if len(pids) > self._limits["processes"]:
            return "processes"  # at once: to look at each of them would give them time
        is_thorough = self._is_time_to_walk(now, at_once)
        return self._check_use(pids, is_thorough) or (self._check_disk(pids) if is_thorough else None)

    def _is_time_to_walk(self, now, at_once):
        if not at_once and now < self._next_walk:
            return False
        self._next_walk = now + _WALK_EVERY
        return True

    def _check_use(self, pids, is_thorough):
        """What is quickly told comes first: while we look, many processes take more."""
        use = watch.sample(pids)
        if use.tasks > self._limits["processes"]:
            return "processes"
        buffers = watch.most_in_buffers(pids, self._memory)
        if buffers > self._memory:
            self.peak = max(self.peak, buffers)
            return "memory"
        self.saw_others = self.saw_others or len(pids) > 1
        self.cpu_seen = self._ledger.total_ms(pids)
        if self.cpu_seen - self.cpu_before > self._limits["cpuMs"]:
            return "cpu"
        return "memory" if self._memory_of(pids, use, is_thorough) > self._memory else None

    def _memory_of(self, pids, use, is_thorough):
        """At most, and exactly where the limit may be passed; of many processes also from time to time, for the peak."""
        is_single = len(pids) == 1
        most = (use.resident if is_single else use.anonymous) + use.most_tables
        if most <= self._memory and (is_single or not is_thorough):
            self.peak = max(self.peak, use.resident if is_single else 0)
            return most
        exact = watch.exact_memory(pids)
        self.peak = max(self.peak, exact)
        return exact

    def _check_disk(self, pids):
        return "disk" if self._box.is_over(self._limits["diskMb"], pids) else None


def tasks_counted_outside(tier):
    """Tasks that the kernel may count into a run's RLIMIT_NPROC though they are not its own; None where it cannot be told."""
    if not system.IS_LINUX:
        return None
    if tier == "namespace":
        # Since Linux 5.14 the count is kept for each user namespace: only the supervisor is in ours.
        return 1 if system.kernel_version() >= (5, 14) else None
    # All of the user's count, other runs' too, which must not be able to use up ours: a bound for the machine's sake.
    return watch.tasks_of_user(os.getuid()) + _TASKS_OF_OTHERS


def bound_tasks(outside, processes):
    """In the worker: stops a fork bomb between two looks. Above the limit itself, so that a look can see it passed."""
    if outside is None:
        return
    bound = outside + processes + 4
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (bound, bound))
