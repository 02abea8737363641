"""The processes of a run as last seen: the use of each, and the CPU time of all, including those that ended."""

import math
import os
import time
from typing import NamedTuple

from . import watch

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
_CORES = os.cpu_count() or 1
# The required confidence, in standard deviations, that unobserved CPU time was used.
_CONFIDENCE = 2
# A page that was shared and now is private, and page tables for it. New pages show in the resident size.
_MOST_PER_FAULT = 3 * _PAGE


class Sample(NamedTuple):
    tasks: int
    resident: int
    # The part that belongs to no file. Pages that forked processes share are counted for each of them.
    anonymous: int
    # The most that the kernel's page tables can take for this much address space.
    most_tables: int
    # Whether any of them does not show what it uses.
    is_headless: bool = False


class Figures:
    """The figures of one process."""

    __slots__ = (
        "cpu_ms", "user_ms", "gained_ms", "waited_ms", "unseen_ms", "tasks", "resident", "size", "faults", "started", "is_headless",
        "_pid", "_anonymous",
    )

    def __init__(self, pid, cpu_ms, before, interval_ms):
        fields = watch.stat_fields(pid)
        self.cpu_ms = cpu_ms
        # The part not spent in the kernel.
        self.user_ms = int(fields[11]) * _TICK_MS
        # The time of the children that it has waited for.
        self.waited_ms = sum(map(int, fields[13:15])) * _TICK_MS
        self.tasks, self.size = int(fields[17]), int(fields[20])
        self.is_headless = watch.is_headless(pid, fields)
        # No page of a process comes into memory without a fault.
        self.faults = int(fields[7]) + int(fields[9])
        self.started, self.resident = fields[19], int(fields[21]) * _PAGE
        self._pid = pid
        self._anonymous = before._anonymous if before is not None and self._holds_the_same(before) else None
        self.unseen_ms = 0.0
        if before is not None:
            self.gained_ms = cpu_ms - before.cpu_ms
        else:
            self.gained_ms = 0.0
            if fields[0] == b"R" or self.tasks > 1:
                self.unseen_ms = max(0.0, interval_ms * _share_of_processor(pid) * min(self.tasks, _CORES) - cpu_ms)

    @property
    def anonymous(self):
        """Read when it is asked for: a cgroup counts memory by itself."""
        if self._anonymous is None:
            try:
                _, present, of_files, *_ = map(int, watch.read_short(f"/proc/{self._pid}/statm").split())
            except OSError:
                present = of_files = 0  # it ended meanwhile
            self._anonymous = (present - of_files) * _PAGE
        return self._anonymous

    def _holds_the_same(self, before):
        return self.started == before.started and self.faults == before.faults and self.resident == before.resident

    def growth_since(self, before):
        """An upper bound of the memory that the process gained since `before`, which it may have shared until then."""
        if before is None or self.started != before.started:
            return self.anonymous + self.size // 512
        return max(0, self.anonymous - before.anonymous) + (self.faults - before.faults) * _MOST_PER_FAULT

    @property
    def last_ms(self):
        """The CPU time that it has probably used since it was last seen, if it has ended.

        Most processes that live shorter than the time between two samples are never seen. Each that is seen at work stands
        for all that were not: counted as working for that whole time, their sum is right on average."""
        return self.unseen_ms or self.gained_ms / 2


def _share_of_processor(pid):
    """If more processes are runnable than there are processors, each of them works a part of the time."""
    try:
        worked, waited, _ = map(int, watch.read_short(f"/proc/{pid}/schedstat").split())
        return worked / (worked + waited)
    except (OSError, ValueError, ZeroDivisionError):
        return 1.0


class Census:
    def __init__(self, began=None):
        """`began`: when its processes began, if not now."""
        self.living = {}
        # CPU time of all processes so far.
        self.cpu_ms = 0.0
        # The most of it that was spent in the kernel: all that was not seen to be spent elsewhere.
        self.kernel_ms = 0.0
        self._ended_user_ms = 0.0
        self._ended_ms = self._probable_ms = self._variance = self._gone_ms = 0.0
        self._taken = time.monotonic() if began is None else began

    def take(self, pids, collected_ms=0.0, afresh=False):
        """Samples the processes. One that has not worked since the last time keeps its figures, unless `afresh`.

        `collected_ms`: the time of processes that this process collected, and of those that they had waited for."""
        now = time.monotonic()
        interval_ms, self._taken = (now - self._taken) * 1000, now
        living = {}
        for pid in pids:
            before = self.living.get(pid)
            try:
                cpu_ms = watch.cpu_clock_ms(pid)
                if before is None or cpu_ms != before.cpu_ms or afresh:
                    living[pid] = Figures(pid, cpu_ms, before, interval_ms)
                else:
                    living[pid] = before
            except OSError:
                continue  # it ended meanwhile
        for pid, figures in self.living.items():
            if pid not in living:
                self._book_end(figures)
        self.living = living
        waited_for = sum(each.waited_ms for each in living.values()) + collected_ms
        self.cpu_ms = sum(each.cpu_ms for each in living.values()) + self._ms_of_ended(waited_for)
        user_ms = sum(each.user_ms for each in living.values()) + self._ended_user_ms
        self.kernel_ms = max(self.kernel_ms, self.cpu_ms - user_ms)

    def note_alone(self):
        """There is no process now but those of the last sample: others have begun since."""
        self._taken = time.monotonic()

    def _book_end(self, figures):
        self._ended_ms += figures.cpu_ms
        self._ended_user_ms += figures.user_ms
        self._probable_ms += figures.last_ms
        self._variance += figures.last_ms**2

    def _ms_of_ended(self, waited_for):
        """The time is exact for processes that somebody waited for; for others it is what was seen of them."""
        probable = max(0.0, self._probable_ms - _CONFIDENCE * math.sqrt(self._variance))
        self._gone_ms = max(self._gone_ms, self._ended_ms + probable, waited_for)
        return self._gone_ms

    def sample(self):
        living = self.living.values()
        return Sample(
            sum(each.tasks for each in living),
            sum(each.resident for each in living),
            sum(each.anonymous for each in living),
            sum(each.size // 512 for each in living),
            any(each.is_headless for each in living),
        )


class Measured:
    """The memory of processes, read page by page, which takes long; and an upper bound of what they hold since."""

    def __init__(self, size, living):
        """`living`: the figures of the census, before the memory was read."""
        self._size = size
        self._then = living

    def most(self, living):
        return self._size + sum(
            figures.growth_since(before)
            for pid, figures in living.items()
            if (before := self._then.get(pid)) is not figures
        )


def sample(pids):
    """One sample of these processes."""
    census = Census()
    census.take(pids)
    return census.sample()
