"""The cgroup of one supervisor's runs, as the supervisor sees it: limits to write and figures to read, by open files."""

import contextlib
import fcntl
import functools
import os
from typing import NamedTuple

_MB = 1024 * 1024
# Kernel memory that a run has left behind beyond this is not carried into the next one.
_MOST_LEFT = 8 * _MB
# Every interpreter has a higher peak by itself, so the group's need not begin anew.
_LOW_PEAK = 8 * _MB


class _File(NamedTuple):
    controller: str
    name: str
    mode: int = os.O_RDONLY


FILES = {
    "v1": {
        "limit": _File("memory", "memory.limit_in_bytes", os.O_RDWR),
        "usage": _File("memory", "memory.usage_in_bytes"),
        "peak": _File("memory", "memory.max_usage_in_bytes", os.O_RDWR),
        "stat": _File("memory", "memory.stat"),
        "kills": _File("memory", "memory.oom_control"),
        "hits": _File("memory", "memory.failcnt"),
        "reclaim": _File("memory", "memory.force_empty", os.O_WRONLY),
        "tasks_limit": _File("pids", "pids.max", os.O_RDWR),
        "tasks": _File("pids", "pids.current"),
        "refusals": _File("pids", "pids.events"),
        "cpu": _File("cpuacct", "cpuacct.usage"),
    },
    "v2": {
        "limit": _File("memory", "memory.max", os.O_RDWR),
        "usage": _File("memory", "memory.current"),
        "peak": _File("memory", "memory.peak", os.O_RDWR),
        "stat": _File("memory", "memory.stat"),
        "kills": _File("memory", "memory.events"),
        "tasks_limit": _File("pids", "pids.max", os.O_RDWR),
        "tasks": _File("pids", "pids.current"),
        "refusals": _File("pids", "pids.events"),
        "cpu": _File("memory", "cpu.stat"),
    },
}
# The place of a figure in its file: the word before it (none: the file is the number), and the value of a unit.
_FIGURES = {"v1": {}, "v2": {"cpu": b"\nusage_usec "}}
# The files that count events, and for each event the file and the word.
_EVENT_FILES = ("kills", "hits", "refusals")
_EVENTS = {
    "v1": (("kills", b"\noom_kill "), ("hits", b"\n"), ("refusals", b"\nmax ")),
    "v2": (("kills", b"\noom_kill "), ("kills", b"\nmax "), ("refusals", b"\nmax ")),
}
_CPU_UNITS_PER_MS = {"v1": 1e6, "v2": 1e3}
# Memory that the kernel reclaims first: file contents (the run's own files among them) and caches.
_RECLAIMABLE = {"v1": (b"\ncache ",), "v2": (b"\nfile ", b"\nslab_reclaimable ")}


class Counts(NamedTuple):
    """Events so far: processes killed for memory, times the own limit was reached, forks refused."""

    kills: int
    hits: int
    refusals: int


_NO_EVENTS = Counts(0, 0, 0)
# The socket to the keeper, and the files.
MOST_DESCRIPTORS = 1 + max(map(len, FILES.values()))


@contextlib.contextmanager
def received(about, fds):
    """In the fork server, for the fork of a supervisor: its cgroup, from what the guard sent, or None."""
    try:
        yield RunGroup(about["version"], fds[0], dict(zip(about["files"], fds[1:]))) if about else None
    finally:
        for fd in fds:
            os.close(fd)


class RunGroup:
    def __init__(self, version, keeper, files):
        self._version, self._keeper, self._files = version, keeper, files
        self._words, self._cpu_units_per_ms = _FIGURES[version], _CPU_UNITS_PER_MS[version]
        # The limits of the last run, and what was written to each file.
        self._bounds, self._written = None, {}
        # Memory and events of former runs, which a run is not charged for.
        self.left = 0
        # Memory and tasks of the template, which is in the group, too.
        self._of_template, self._tasks_of_template = 0, 0
        self._peak_before = 0
        # The files that count events, and their contents when the worker was parked.
        self._event_fds = {name: files[name] for name in _EVENT_FILES if name in files}
        self._events_before = []
        self._cpu_before = 0.0

    @property
    def features(self):
        names = {"limit": "memory", "tasks_limit": "pids", "cpu": "cpu"}
        return [f"cgroup-{self._version}-{names[name]}" for name in names if name in self._files]

    def enter(self):
        """In the worker or its template, first: all that it uses from here on is counted here."""
        os.write(self._keeper, b"enter")
        answer = os.read(self._keeper, 256)
        if answer != b"ok":
            raise OSError(f"the worker could not be moved into its cgroup: {answer.decode(errors='replace')}")

    def admit_template(self, start):
        """`start`: starts the template, which enters the group."""
        before = self.memory(0)
        start()
        self._of_template, self._tasks_of_template = max(0, self.memory(0) - before), 1

    def is_clean(self):
        """While no worker is in it, before one is forked: whether former runs left little behind."""
        self.left, most = 0, _MOST_LEFT + self._of_template
        left = self.memory(most)
        self.left = left if left <= most else self.memory_without_caches()
        return self.left <= most

    def settle(self):
        """While a worker is parked: figures from here on are its run's."""
        if "peak" in self._files:
            self._peak_before = self.figure("peak")
            if self._peak_before - self.left > _LOW_PEAK:
                with contextlib.suppress(OSError):  # before Linux 6.12 it only grows
                    self._write("peak", 0)
                    self._peak_before = 0
        self._events_before = self._read_events()
        self._cpu_before = self._cpu()

    def limit(self, memory_mb, disk_mb, processes):
        """Files of a run in memory are charged as its memory, so there must be room for both."""
        bounds = (memory_mb + disk_mb) * _MB + -(-self.left // _MB) * _MB, processes + self._tasks_of_template
        if bounds != self._bounds:
            self._set("limit", bounds[0])
            self._set("tasks_limit", bounds[1])
            self._bounds = bounds

    @property
    def counts_cpu(self):
        return "cpu" in self._files

    @functools.cached_property
    def counts_all(self):
        """Whether it counts the tasks of a run, their CPU time, and their peak of memory, apart from that of former runs."""
        return {"tasks", "cpu", "peak"} <= self._files.keys() and fcntl.fcntl(self._files["peak"], fcntl.F_GETFL) & os.O_RDWR != 0

    def has_one_task(self):
        """Whether its worker is the only process of a run, with one thread. One that has ended counts until it is waited for."""
        return self.figure("tasks") == self._tasks_of_template + 1

    def cpu_ms(self):
        return self._cpu() - self._cpu_before

    def events(self):
        """The events since the run began."""
        now = self._read_events()
        if now == self._events_before:
            return _NO_EVENTS
        return Counts(*(there - before for there, before in zip(self._counts(now), self._counts(self._events_before))))

    def memory(self, known):
        """Bytes in use without files, if more than `known`."""
        used = self.figure("usage")
        return used - self.left if used - self.left <= known else self._firm(used) - self.left

    def memory_without_caches(self):
        """v1 does not report how much of the kernel's memory are caches: they are emptied first."""
        with contextlib.suppress(OSError, KeyError):
            self._write("reclaim", 0)
        return self._firm(self.figure("usage")) - self.left

    def peak(self, known):
        """The highest use without files, if higher than `known`."""
        highest = self.figure("peak") if "peak" in self._files else 0
        if highest <= self._peak_before or highest - self.left <= known:
            return known
        return max(known, self._firm(highest) - self.left)

    def _firm(self, used):
        stat = b"\n" + os.pread(self._files["stat"], 8192, 0)
        return used - sum(_after(stat, word) for word in _RECLAIMABLE[self._version])

    def _read_events(self):
        return [os.pread(fd, 4096, 0) for fd in self._event_fds.values()]

    def _counts(self, texts):
        by_file = dict(zip(self._event_fds, texts))
        return (_after(b"\n" + by_file.get(name, b""), word) for name, word in _EVENTS[self._version])

    def _cpu(self):
        return self.figure("cpu") / self._cpu_units_per_ms

    def figure(self, name):
        if name not in self._files:
            return 0
        text = os.pread(self._files[name], 4096, 0)
        return _after(b"\n" + text, self._words[name]) if name in self._words else int(text)

    def _set(self, name, value):
        if name in self._files and self._written.get(name) != value:
            self._write(name, value)
            self._written[name] = value

    def _write(self, name, value):
        os.pwrite(self._files[name], b"%d" % value, 0)


def _after(text, word):
    start = text.find(word)
    return int(text[start + len(word) : start + len(word) + 24].split(None, 1)[0]) if start >= 0 else 0
