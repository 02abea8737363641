"""Enforces the limits of a run: samples what its processes use and names the limit that was passed."""

import contextlib
import functools
import os
import resource
import time

from ..jail import system
from . import watch
from .census import Census, Measured

_SAMPLE_EVERY, _LONGEST_PAUSE = 0.010, 0.100
_WALK_EVERY, _LONGEST_WALK_PAUSE = 0.100, 1.0
# A process that has used less CPU time than this since the last sample cannot have changed much. After so many seconds there is a sample
# all the same.
_QUIET_MS, _LONGEST_QUIET = 5.0, 0.1
# The more a sample costs, the later is the next one: a tenth of a processor, unless that is too late.
_PAUSE_PER_COST = 9
# Other processes of the same user that may start during a run.
_TASKS_OF_OTHERS = 256
_MOST_SIGNALS = 1024
# What counts as held in the kernel (kernel_objects.py), because nobody can say what it is.
_UNSEEN = "what a process holds that does not show its files"


class LimitKeeper:
    """The limits of one run, from its start on."""

    peak = 0
    # The kind of object that exceeded the limit, if it was not the memory of a process.
    held = None
    # Whether there was ever more than the worker itself, and the observed CPU time of all.
    saw_others, cpu_seen = False, 0.0
    # CPU time that the supervisor spent on calls of the run.
    charged_ms = 0.0
    _measured = None

    def __init__(self, limits, worker, reaper, box, objects):
        """`objects`: what the kernel keeps for the run (kernel_objects.py)."""
        self.cpu_before = watch.cpu_clock_ms(worker) if system.IS_LINUX else 0.0
        self.started = time.monotonic()
        self._deadline = self.started + limits["timeoutMs"] / 1000
        self._limits = limits
        self._memory = limits["memoryMb"] * 1024 * 1024
        self._reaper = reaper
        self._box = box
        self._objects = objects
        self._next_sample = self._next_walk = self.started + _SAMPLE_EVERY
        # The last sample: when it was taken, and the CPU time until then.
        self._sampled, self._cpu_sampled = self.started, self.cpu_before

    @functools.cached_property
    def _census(self):
        """Most runs end before there is a reason to look at their processes."""
        return Census(self.started)

    def renew(self, limits, at_once=True, is_counted=False):
        """For the next job of a session: its time and CPU time begin again; what it holds, it still holds. `at_once`: measure that
        soon, as in a first job. `is_counted`: nothing has run since it was last measured."""
        self._limits, self._measured, self.peak = limits, None, 0
        self.started = time.monotonic()
        self._next_walk = self._next_sample = self.started + _SAMPLE_EVERY
        if not at_once:
            self._next_sample += _LONGEST_PAUSE
            self._next_walk += _WALK_EVERY
        self._deadline = self.started + limits["timeoutMs"] / 1000
        if watch.HAS_PROC and not is_counted:
            self._take_stock()
        self.cpu_before = self.cpu_seen = self._census.cpu_ms + self.charged_ms
        self._note_sample(self.started)

    def _take_stock(self):
        """Counts what was used so far."""
        self._census.take(self._reaper.processes(), self._reaper.orphans_ms, True)

    def grant(self, seconds):
        """Lets the run go on for so long, to end by itself."""
        self._deadline = time.monotonic() + seconds
        self._limits = self._limits | {"cpuMs": self.cpu_seen - self.cpu_before + seconds * 1000 * (os.cpu_count() or 1)}

    def patience_ms(self):
        """The time until the next sample is due."""
        return max(0, (min(self._deadline, self._next_sample) - time.monotonic()) * 1000)

    def check(self, at_once=False):
        """The limit that was passed, or None. Samples only when it is due, or `at_once`."""
        now = time.monotonic()
        if now >= self._deadline:
            return "timeout"
        if not at_once:
            if now < self._next_sample:
                return None
            if now - self._sampled < _LONGEST_QUIET and self._is_quiet():
                self._note_quiet()
                self._next_sample = now + _SAMPLE_EVERY
                return None
        began = time.process_time()
        passed = self._look(now, at_once) if watch.HAS_PROC else None
        self._note_sample(now)
        pause = _PAUSE_PER_COST * (time.process_time() - began)
        self._next_sample = time.monotonic() + min(max(pause, _SAMPLE_EVERY), _LONGEST_PAUSE)
        self._next_walk = max(self._next_walk, now + min(pause, _LONGEST_WALK_PAUSE))
        return passed

    def _is_quiet(self):
        """Whether the run is one process, with one thread, that has hardly worked since the last sample."""
        try:
            return self._reaper.glance is not None and self._reaper.glance.is_single() and self._has_hardly_worked()
        except OSError:
            return False  # it has ended

    def _note_quiet(self):
        """A process that is seen later stands for the time since then."""
        self._census.note_alone()

    def _has_hardly_worked(self):
        return self._cpu_ms() - self._cpu_sampled < _QUIET_MS

    def _cpu_ms(self):
        """Returns the CPU time of the worker, which is that of the run while it is alone."""
        return (0.0 if self._reaper.glance is None else self._reaper.glance.cpu_ms()) + self.charged_ms

    def _note_sample(self, now):
        self._sampled = now
        with contextlib.suppress(OSError):  # it has ended
            self._cpu_sampled = self._cpu_ms()

    def passed_at_end(self):
        """The limit that was passed without a sample that showed it, if the kernel reports one."""
        return None

    def counted(self, highest):
        """The peak of a run that passed no limit: contents of mapped files are not its memory, and count as disk."""
        return highest if highest <= self._memory else self.peak

    def final_peak(self, known):
        """The peak of all that was used, if it is higher than `known`."""
        return known

    def _look(self, now, at_once):
        # Nobody else waits for orphans: they would stay, and their use would be lost.
        self._reaper.collect_orphans()
        pids = self._reaper.processes()
        if len(pids) > self._limits["processes"]:
            return "processes"  # at once: to sample each of them would give them time
        is_thorough = self._is_time_to_walk(now, at_once)
        passed = self._check_use(pids, is_thorough)
        if passed is None and (is_thorough or self._box.may_be_over(self._limits["diskMb"])):
            passed = self._check_disk(pids)
        return passed

    def _is_time_to_walk(self, now, at_once):
        if not at_once and now < self._next_walk:
            return False
        self._next_walk = now + _WALK_EVERY
        return True

    def _check_use(self, pids, is_thorough):
        """Checks the cheap figures first: meanwhile, many processes take more."""
        self._census.take(pids, self._reaper.orphans_ms, is_thorough)
        self.saw_others = self.saw_others or len(pids) > 1 or self._reaper.orphans_ms > 0
        self.cpu_seen = self._census.cpu_ms + self.charged_ms
        use = self._census.sample()
        if use.tasks > self._limits["processes"]:
            return "processes"
        if self.cpu_seen - self.cpu_before > self._limits["cpuMs"]:
            return "cpu"
        if self._holds_too_much(is_thorough):
            return "memory"
        return "memory" if self._memory_of(pids, use, is_thorough) > self._memory else None

    def _holds_too_much(self, is_thorough):
        held = self._objects.held(self._census, self._limits, is_thorough)
        if held is None:
            return False
        self.held, self.peak = held.what, max(self.peak, held.size)
        return True

    def _memory_of(self, pids, use, is_thorough):
        """An upper bound; exact if the limit may be passed, and for many processes from time to time, for the peak."""
        is_single = len(pids) == 1
        most = (use.resident if is_single else use.anonymous) + use.most_tables
        if is_single and most <= self._memory:
            self.peak = max(self.peak, use.resident)
            return most
        # The sum over forked processes is far too high, since they share most of it.
        living = self._census.living
        if self._measured is not None:
            most = min(most, self._measured.most(living))
        if most <= self._memory and not (is_thorough and most > self.peak):
            return most
        exact = watch.exact_memory(pids)
        self._measured = Measured(exact, living)
        self.peak = max(self.peak, exact)
        return exact

    def _check_disk(self, pids):
        try:
            return "disk" if self._box.is_over(self._limits["diskMb"], pids) else None
        except PermissionError:
            # It was seen a moment ago: since then its first thread has ended, or it has begun another program.
            self.held, self.peak = _UNSEEN, max(self.peak, self._memory)
            return "memory"


_BOUNDED = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_NPROC)
_NOFILE, _FSIZE, _CPU, _DATA, _NPROC = _BOUNDED
_set_limit, _INFINITY = resource.setrlimit, resource.RLIM_INFINITY
_hard_limits = {}


def prepare():
    """In the fork server, once it has its own limits, or in a worker: bounds that runs cannot raise."""
    _hard_limits.update((number, resource.getrlimit(number)[1]) for number in _BOUNDED)


def bound_run(most):
    """In the worker, before its run: limits of each process, enforced by the kernel."""
    memory = most["memoryMb"] * 1024 * 1024
    _bound(_NOFILE, most["openFiles"])
    _bound(_FSIZE, most["diskMb"] * 1024 * 1024)
    _bound(_CPU, most["cpuMs"] // 1000 + 2)
    # The supervisor enforces the memory limit; this only makes one absurd request fail at once, with a traceback.
    _bound(_DATA, max(2 * memory, memory + (1 << 30)))


def tasks_of_user():
    """The tasks of the user, including those of other runs, which must not use up ours, and a margin: it protects the machine."""
    return watch.tasks_of_user(os.getuid()) + _TASKS_OF_OTHERS if system.IS_LINUX else None


def bound_tasks(outside, processes):
    """In the worker: stops a fork bomb between two samples. Above the limit itself, so that a sample can see it passed."""
    if outside is not None:
        _bound(_NPROC, outside + processes + 4)


def bound_signals(counted_outside):
    """In the worker, while it is parked: bounds its timers and queued signals, which the kernel counts for a whole user.

    `counted_outside`: returns how many of others the kernel counts with them now (tier.py)."""
    if hasattr(resource, "RLIMIT_SIGPENDING"):
        _bound(resource.RLIMIT_SIGPENDING, _MOST_SIGNALS + counted_outside())


def _bound(resource_number, value):
    hard = _hard_limits.get(resource_number)
    if hard is None:
        hard = resource.getrlimit(resource_number)[1]
    value = value if hard == _INFINITY else min(value, hard)
    _set_limit(resource_number, (value, value))
