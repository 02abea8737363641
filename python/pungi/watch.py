"""What the processes of a run use, read from /proc by the supervisor."""

import math
import os
import stat
import time
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
HAS_PROC = os.path.isdir("/proc/self/task")


class Sample(NamedTuple):
    tasks: int
    resident: int
    # Of it what is no file's. Pages that forked processes share are counted for each of them.
    anonymous: int
    # What the kernel's page tables can take at most for so much address space.
    most_tables: int


def children_of(pid):
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    except OSError:
        pass  # it ended while we looked
    return found


def parent_of(pid):
    """None for a process that is gone. A thread has its process's parent."""
    try:
        return int(_stat(pid)[1])
    except OSError:
        return None


def group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


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


class Glance:
    """A worker's figures at its end, from files that were opened while nobody waited."""

    def __init__(self, pid):
        self._pid = pid
        names = (f"{pid}/status", f"{pid}/stat", f"{pid}/task/{pid}/children", f"self/task/{os.getpid()}/children")
        self._fds = [os.open(f"/proc/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in names]

    def read(self):
        """(CPU time in ms, peak resident bytes), or None where not all that the run used would be in them."""
        status, stat_line, children, ours = (os.pread(fd, 4096, 0) for fd in self._fds)
        fields = stat_line.rpartition(b")")[2].split()
        never_waited, one_thread = fields[8] == b"0", fields[17] == b"1"
        mark = status.find(b"VmHWM:")
        if not never_waited or not one_thread or children or ours.split() != [b"%d" % self._pid] or mark < 0:
            return None
        return cpu_clock_ms(self._pid), int(status[mark + 6 : mark + 30].split()[0]) * 1024

    def close(self):
        for fd in self._fds:
            os.close(fd)


class CpuLedger:
    """CPU time of processes that come and go. One that nobody waits for takes its figure along: the last seen counts."""

    def __init__(self):
        self._living = {}
        self._gone_ms = 0.0

    def total_ms(self, pids):
        seen = {}
        for pid in pids:
            try:
                # Its children that were waited for, in ticks, and itself, to the nanosecond.
                waited_for = sum(map(int, _stat(pid)[13:15])) * _TICK_MS
                seen[pid] = max(cpu_clock_ms(pid) + waited_for, self._living.get(pid, 0.0))
            except OSError:
                continue
        self._gone_ms += sum(cpu for pid, cpu in self._living.items() if pid not in seen)
        self._living = seen
        return self._gone_ms + sum(seen.values())


def sample(pids):
    tasks = resident = anonymous = most_tables = 0
    for pid in pids:
        try:
            fields = _stat(pid)
            with open(f"/proc/{pid}/statm", "rb") as file:
                _, present, of_files, *_ = map(int, file.read().split())
        except OSError:
            continue
        tasks += int(fields[17])
        most_tables += int(fields[20]) // 512
        resident += present * _PAGE
        anonymous += (present - of_files) * _PAGE
    return Sample(tasks, resident, anonymous, most_tables)


def exact_memory(pids):
    """Private memory of these processes and their page tables; pages that forked processes share are counted once."""
    total = 0
    for pid in pids:
        try:
            lines = _lines(pid, "smaps_rollup") + _lines(pid, "status")
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError:
            # It made itself unreadable: take the larger figure.
            total += sample([pid]).resident
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith((b"Pss_Anon:", b"SwapPss:", b"VmPTE:")))
    return total


def _lines(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read().splitlines()


def cpu_clock_ms(pid):
    """CPU time of a process so far, exact to the nanosecond (the kernel's clock of that process)."""
    return time.clock_gettime((~pid << 3) | 2) * 1000


class Holdings(NamedTuple):
    """What processes hold open: memory in the kernel's buffers, and files that no folder shows any more."""

    buffers: int
    hidden_files: int


_SOCKET_BUFFERS = 212992
# Where they cannot be counted: too many for any limit.
_UNKNOWN_DESCRIPTORS = 1 << 16
_BUFFERS = {stat.S_IFSOCK: _SOCKET_BUFFERS, stat.S_IFIFO: 65536}


def holdings(pids, device, enough=math.inf):
    """At most what their sockets and pipes can hold, and the size of deleted files on that device. -1: it cannot be told.

    Where the buffers are `enough`, nobody looks further.
    """
    buffers, files, seen, is_hidden = 0, {}, set(), False
    for pid in pids:
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                target = os.stat(f"/proc/{pid}/fd/{name}")
                if stat.S_ISREG(target.st_mode) and target.st_nlink == 0 and target.st_dev == device:
                    files[target.st_ino] = target.st_blocks * 512
                elif target.st_ino not in seen and (buffer := _BUFFERS.get(stat.S_IFMT(target.st_mode))):
                    seen.add(target.st_ino)
                    buffers += buffer
                    if buffers > enough:
                        return Holdings(buffers, -1)
        except PermissionError:
            if not _is_ended(pid):
                # It runs a program that its owner may start and not read: all that it has open may be sockets.
                buffers += _descriptors(pid) * _SOCKET_BUFFERS
                is_hidden = True
        except OSError:
            continue  # it ended, or closed it, while we looked
    return Holdings(buffers, -1 if is_hidden else sum(files.values()))


def most_in_buffers(pids, limit):
    """The same for sockets and pipes alone; looks closely only where the mere number of descriptors could pass the limit."""
    if sum(map(_descriptors, pids)) * _SOCKET_BUFFERS <= limit:
        return 0
    return holdings(pids, None, limit).buffers


def _descriptors(pid):
    try:
        # The folder's size is their number, since Linux 6.2.
        return os.stat(f"/proc/{pid}/fd").st_size or len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return 0 if _is_ended(pid) else _UNKNOWN_DESCRIPTORS
    except OSError:
        return 0


def _is_ended(pid):
    """A process that has given back its memory, on its way out, belongs to root already and holds nothing."""
    try:
        return _stat(pid)[20] == b"0"
    except OSError:
        return True


def deleted_mappings(pids, device):
    """Files that are mapped, deleted and perhaps no longer open: their number, since their size cannot be seen."""
    found = set()
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}".encode()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps", "rb") as file:
                for line in file:
                    if line.endswith(b" (deleted)\n"):
                        _, _, _, where, inode, *_ = line.split()
                        if where == wanted:
                            found.add(inode)
        except OSError:
            continue
    return len(found)


def folder_usage(path, most_entries):
    """Bytes and entries below a folder; stops at the limit. Where it cannot look, the answer is: too many."""
    size = entries = 0
    left = [path]
    while left and entries <= most_entries:
        folder = left.pop()
        try:
            with _scan(folder) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
        except FileNotFoundError:
            continue
        except OSError:
            return size, most_entries + 1
    return size, entries


def _scan(folder):
    try:
        return os.scandir(folder)
    except PermissionError:
        os.chmod(folder, 0o700, follow_symlinks=os.chmod not in os.supports_follow_symlinks)
        return os.scandir(folder)
