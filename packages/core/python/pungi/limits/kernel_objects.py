"""Counts what the kernel keeps for a run and no process's memory shows: buffers of sockets and pipes, watches, locks, mapped areas.

Their number is read from /proc, and each counts with the largest size that it can have. What all processes of a user share is
bounded here, too.
"""

import functools
import os
import stat
from typing import NamedTuple

from . import sockets, watch

_MB = 1024 * 1024
_PIPE = 65536
# More than the 256 bytes that they have: counting many of them takes long.
_WATCH = _LOCK = 1024
# A mapped area and its structures, and a link to each process that it was inherited from.
_AREA, _INHERITED = 400, 64
# An open file of /proc keeps the text that was not read yet: a mapped file's name, or a line for each watch or lock.
_TEXT, _LINE = 32 * 1024, 256
# No program makes more watches or locks in a millisecond of CPU time.
_BYTES_PER_CPU_MS = 3000 * 256
# One run has at most this part of a user's limit.
_PART_OF_USER = 32
# For each process that a run may have: what talking to a program needs, and one more.
_PIPES_PER_PROCESS, _FEWEST_PIPES = 4, 256
# Descriptors that were sent and not received: the kernel gives a user no more in all than one process may have open.
_MOST_IN_FLIGHT = 64
_CHUNK = 1 << 20


def _setting(name, default):
    try:
        with open(f"/proc/sys/{name}", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return default


_MOST_WATCHES = _setting("fs/epoll/max_user_watches", 1 << 20) // _PART_OF_USER
_MOST_AREAS = _setting("vm/max_map_count", 65530)


class Held(NamedTuple):
    """An excess over a run's limit: its bytes, and the kind of object."""

    size: int
    what: str


class _Counts:
    """The counts of one process at a given CPU time."""

    __slots__ = ("cpu_ms", "watches", "locks", "in_flight", "pipes", "texts", "areas", "is_unreadable")

    def __init__(self, cpu_ms):
        self.cpu_ms = cpu_ms
        self.watches = self.locks = self.in_flight = self.texts = self.areas = 0
        self.pipes = set()
        self.is_unreadable = False


class KernelObjects:
    """The kernel objects of one run."""

    def __init__(self, has_namespaces, loopback=None):
        """Created while the worker is parked: objects that exist now are not the run's. `loopback`: of its network namespace, if any."""
        self._sockets_before = sockets.count() if has_namespaces else None
        self._loopback = loopback
        self._counts = {}
        self._hidden = 0
        # CPU time at the last sample, and the part of it spent in the kernel.
        self._looked_at_ms = self._kernel_ms = None

    @property
    def is_suspicious(self):
        """Whether the next sample should come soon."""
        return self._sockets is not None and self._sockets.is_suspicious

    @functools.cached_property
    def _sockets(self):
        """Most runs end before anybody asks. None without a network namespace."""
        return None if self._sockets_before is None else sockets.Sockets(self._loopback, *self._sockets_before)

    def held(self, census, limits, is_thorough):
        """The excess over the memory limit or over a run's part; None if there is none."""
        memory = limits["memoryMb"] * _MB
        if any(figures.is_headless for figures in census.living.values()):
            return Held(memory, "what a process holds whose first thread has ended")
        return self._in_sockets(census, memory) or self._in_objects(census, memory, limits, is_thorough)

    def _in_sockets(self, census, memory):
        if self._sockets is not None:
            excess = self._sockets.excess(memory, census.cpu_ms)
            return Held(*excess) if excess is not None else None
        size = watch.most_in_buffers(census.living, memory)
        return Held(size, "buffers of sockets and pipes") if size > memory else None

    def _in_objects(self, census, memory, limits, is_thorough):
        # In this much CPU time a run can create a sixteenth of its limit unobserved.
        unseen = memory // 16
        if self._looked_at_ms is None:
            self._looked_at_ms, self._kernel_ms = census.cpu_ms, census.kernel_ms
        is_due = (census.cpu_ms - self._looked_at_ms) * _BYTES_PER_CPU_MS >= unseen
        # Sending descriptors takes almost no time, but needs sockets.
        is_due = is_due or (is_thorough and self._sockets is not None and self._sockets.last_number > 0)
        if is_due or _may_have_many(census.living, memory, limits):
            # Many processes together create hundreds of pipes in less CPU time than makes a sample due.
            self._count_all(census.living, memory, is_due or is_thorough)
        if is_due:
            # A descriptor in flight between sockets may be a set of watches that nobody can inspect: all that can have been
            # created since the last sample is assumed to exist, a quarter of the limit at most, since samples may be late.
            # Only the kernel creates them: a process that computes while a socket waits for its receiver creates none.
            made = min(4 * unseen, int((census.kernel_ms - self._kernel_ms) * _BYTES_PER_CPU_MS))
            self._hidden = self._hidden + made if any(each.in_flight for each in self._counts.values()) else 0
            self._looked_at_ms, self._kernel_ms = census.cpu_ms, census.kernel_ms
        return self._largest(census.living, memory, limits)

    def _count_all(self, living, memory, is_thorough):
        """Counts those that were never counted; in a thorough sample also those that have worked since."""
        counted, self._counts = self._counts, {}
        objects = memory // _WATCH
        # One process alone has not enough areas to matter.
        areas = memory // _size_of_area(living) if len(living) > 1 else 0
        for pid, figures in living.items():
            counts = counted.get(pid)
            if counts is None or (is_thorough and counts.cpu_ms != figures.cpu_ms):
                counts = _count(pid, figures.cpu_ms, objects, areas)
            self._counts[pid] = counts
            objects -= counts.watches + counts.locks
            areas -= counts.areas
            if objects < 0 or areas < 0:
                return  # it is too much already

    def _largest(self, living, memory, limits):
        if not self._counts and not self._hidden:
            return None  # nothing was worth counting
        counts = self._counts.values()
        if any(each.is_unreadable for each in counts):
            return Held(memory, "what a program holds that cannot be read")
        watches, locks, areas, in_flight, texts = (
            sum(getattr(each, name) for each in counts) for name in ("watches", "locks", "areas", "in_flight", "texts")
        )
        pipes = len(set().union(*(each.pipes for each in counts)))
        sizes = {
            f"{watches} epoll watches": watches * _WATCH,
            f"{locks} record locks": locks * _LOCK,
            f"{pipes} pipes": pipes * _PIPE,
            f"{areas} mapped areas": areas * _size_of_area(living),
            f"{in_flight} descriptors in flight": self._hidden,
            f"{texts} open files of /proc": texts * (_TEXT + _LINE * (watches + locks)),
        }
        parts = (watches / _MOST_WATCHES, 0, pipes / _most_pipes(limits), 0, in_flight / _MOST_IN_FLIGHT, 0)
        # The largest of those that are too much, by size or by a run's part.
        weights = dict(zip(sizes, map(max, (size / memory for size in sizes.values()), parts)))
        total = sum(sizes.values())
        is_over = total > memory or max(weights.values()) > 1
        return Held(total, max(weights, key=weights.get)) if is_over else None


def _size_of_area(living):
    return _AREA + _INHERITED * len(living)


def _may_have_many(living, memory, limits):
    """Whether this many processes can have more pipes than a run's part, or hold more in pipes and mapped areas, which a fork
    copies at once, than the limit."""
    pipes = limits["openFiles"] // 2
    most = pipes * _PIPE + _MOST_AREAS * _size_of_area(living)
    return len(living) * pipes > _most_pipes(limits) or len(living) * most > memory


def _most_pipes(limits):
    return max(_FEWEST_PIPES, _PIPES_PER_PROCESS * limits["processes"])


def _count(pid, cpu_ms, most_objects, most_areas):
    """Stops once it finds more than this many."""
    counts = _Counts(cpu_ms)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            _look_at(pid, name, counts, most_objects)
            if counts.watches + counts.locks > most_objects:
                return counts
        if most_areas:
            counts.areas = sum(text.count(b"\n") for text in _read(f"/proc/{pid}/maps", most_areas))
    except PermissionError:
        counts.is_unreadable = not watch.is_ended(pid)
    except OSError:
        pass  # it ended meanwhile
    return counts


def _look_at(pid, name, counts, most):
    try:
        target = os.stat(f"/proc/{pid}/fd/{name}")
        if stat.S_ISFIFO(target.st_mode):
            counts.pipes.add(target.st_ino)
        elif stat.S_ISREG(target.st_mode) and target.st_dev == _device_of_proc():
            counts.texts += 1
        for text in _read(f"/proc/{pid}/fdinfo/{name}", most):
            counts.watches += text.count(b"\ntfd:")
            counts.locks += text.count(b"\nlock:")
            if (start := text.find(b"\nscm_fds:")) >= 0:
                counts.in_flight += int(text[start + 9 :].split(None, 1)[0])
    except FileNotFoundError:
        return  # closed meanwhile


@functools.cache
def _device_of_proc():
    return os.stat("/proc").st_dev


def _read(path, most_lines):
    """Reads a file of lines in pieces; of a long one, as many as are enough."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lines = 0
        while lines <= most_lines and (text := os.read(fd, _CHUNK)):
            lines += text.count(b"\n")
            yield text
    finally:
        os.close(fd)
