"""What the processes of a run use, read from /proc by the supervisor."""

import os
import resource
import time
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
HAS_PROC = os.path.isdir("/proc/self/task")


class Sample(NamedTuple):
    tasks: int
    cpu_ms: float
    resident: int


def children_of(pid):
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    except OSError:
        pass  # it ended while we looked
    return found


def descendants_of(pid):
    found, left = [], children_of(pid)
    while left:
        child = left.pop()
        found.append(child)
        left += children_of(child)
    return found


def processes_in_namespace():
    own = os.getpid()
    return [pid for name in os.listdir("/proc") if name.isdigit() and (pid := int(name)) != own]


def tasks_of_user(uid):
    tasks = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{name}").st_uid == uid:
                tasks += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return tasks


def _stat(pid):
    with open(f"/proc/{pid}/stat", "rb") as file:
        # The name may hold spaces and brackets; what follows the last bracket is numbers.
        return file.read().rpartition(b")")[2].split()


def had_children(pid):
    """Whether it has waited for processes of its own, whose figures only its parent will get."""
    return _stat(pid)[8] != b"0"


def sample(pids):
    tasks = resident = 0
    cpu = 0.0
    for pid in pids:
        try:
            fields = _stat(pid)
        except OSError:
            continue
        cpu += sum(map(int, fields[11:15])) * _TICK_MS
        tasks += int(fields[17])
        resident += int(fields[21]) * _PAGE
    reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu += (reaped.ru_utime + reaped.ru_stime) * 1000
    return Sample(tasks, cpu, resident)


def exact_memory(pids):
    """Private memory of these processes, with pages that forked processes share counted once."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                lines = file.read().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError:
            # It made itself unreadable: take the larger figure.
            total += sample([pid]).resident
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith((b"Pss_Anon:", b"SwapPss:")))
    return total


def cpu_clock_ms(pid):
    """CPU time of a process so far, exact to the nanosecond (the kernel's clock of that process)."""
    return time.clock_gettime((~pid << 3) | 2) * 1000


def peak_resident(pid):
    """The highest resident size that a living process had, in bytes."""
    with open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def folder_usage(path, most_entries):
    """Bytes and entries below a folder; stops counting at the limit."""
    size = entries = 0
    left = [path]
    while left and entries <= most_entries:
        try:
            with os.scandir(left.pop()) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size, entries
