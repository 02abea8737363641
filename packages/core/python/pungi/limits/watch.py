"""Reads from /proc, in the supervisor, what the processes of a run use."""

import contextlib
import functools
import math
import os
import stat
import time

_PAGE = os.sysconf("SC_PAGE_SIZE")
# PF_EXITING among the flags of a thread; SIGKILL among the signals that wait for it.
_IS_EXITING, _IS_KILLED = 0x4, 1 << 8
HAS_PROC = os.path.isdir("/proc/self/task")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Seconds for a process to stop, and between two looks at it.
_LONGEST_STOP, _MOMENT = 1.0, 0.00005


def children_of(pid):
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.readall().split())
    except OSError:
        pass  # it ended meanwhile
    return found


@functools.cache
def _list_of_own_children():
    return os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY | os.O_CLOEXEC)


def list_own_children():
    """Returns the children of a supervisor, which has one thread, as a number and a space each. The file stays open."""
    return os.pread(_list_of_own_children(), 65536, 0)


def own_children():
    return [*map(int, list_own_children().split())]


def parent_of(pid):
    """None for a process that is gone. A thread has its process's parent."""
    try:
        return int(stat_fields(pid)[1])
    except OSError:
        return None


def process_of(thread):
    """The process that a thread belongs to."""
    return next(int(line[5:]) for line in _lines(thread, "status") if line.startswith(b"Tgid:"))


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


def queued_signals():
    """Pending timers and signals of all processes of our user."""
    return next((int(line[5:].split(b"/")[0]) for line in _lines("self", "status") if line.startswith(b"SigQ:")), 0)


def read_short(path):
    """Reads a file of /proc that is a few lines long."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def stat_fields(pid):
    return _fields(read_short(f"/proc/{pid}/stat"))


def open_stat(pid):
    """The file that `stat_fields_of` reads. It is of this process, also when its number is given to another one."""
    return os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)


def stat_fields_of(fd):
    return _fields(os.pread(fd, 4096, 0))


def _fields(line):
    # The name may hold spaces and brackets; what follows the last bracket is numbers.
    return line.rpartition(b")")[2].split()


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
            total += _resident(pid)
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith((b"Pss_Anon:", b"SwapPss:", b"VmPTE:")))
    return total


def _resident(pid):
    try:
        return int(read_short(f"/proc/{pid}/statm").split()[1]) * _PAGE
    except OSError:
        return 0


def _lines(pid, name):
    return read_short(f"/proc/{pid}/{name}").splitlines()


def is_at_work(pid, most_ms):
    """Whether its first thread has a processor, or waits for one, and the process has used less CPU time than this."""
    try:
        return stat_fields(pid)[0] == b"R" and cpu_clock_ms(pid) < most_ms
    except OSError:
        return False  # it ended meanwhile


def cpu_clock_ms(pid):
    """CPU time of a process so far, exact to the nanosecond (the kernel's clock of that process)."""
    return time.clock_gettime((~pid << 3) | 2) * 1000


_SOCKET_BUFFERS = 212992
# The number of descriptors that cannot be counted: too many for any limit.
_UNKNOWN_DESCRIPTORS = 1 << 16
_BUFFERS = {stat.S_IFSOCK: _SOCKET_BUFFERS, stat.S_IFIFO: 65536}


def _open_files(pid):
    """The os.stat of each open file of a process. PermissionError: its first thread has ended, or it runs a program that its owner may
    not read."""
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            # Closed meanwhile: the others are still there.
            with contextlib.suppress(FileNotFoundError):
                yield os.stat(f"/proc/{pid}/fd/{name}")
    except PermissionError:
        if not is_ended(pid):
            raise
    except OSError:
        return  # it ended meanwhile


def buffers(pids, enough=math.inf):
    """The most that their sockets and pipes can hold. Stops counting at `enough`."""
    size, seen = 0, set()
    for pid in pids:
        try:
            for file in _open_files(pid):
                if file.st_ino not in seen and (buffer := _BUFFERS.get(stat.S_IFMT(file.st_mode))):
                    seen.add(file.st_ino)
                    size += buffer
                    if size > enough:
                        return size
        except PermissionError:
            size += _UNKNOWN_DESCRIPTORS * _SOCKET_BUFFERS
    return size


def deleted_files(pids, device):
    """Size by inode of open files on that device that are in no folder any more. PermissionError: a process does not show its files."""
    return {
        file.st_ino: file.st_blocks * 512
        for pid in pids
        for file in _open_files(pid)
        if stat.S_ISREG(file.st_mode) and file.st_nlink == 0 and file.st_dev == device
    }


def most_in_buffers(pids, limit):
    """The same, but counts only if the mere number of descriptors could pass the limit."""
    if sum(map(_descriptors, pids)) * _SOCKET_BUFFERS <= limit:
        return 0
    return buffers(pids, limit)


def _descriptors(pid):
    try:
        # The folder's size is their number, since Linux 6.2.
        return os.stat(f"/proc/{pid}/fd").st_size or len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return 0 if is_ended(pid) else _UNKNOWN_DESCRIPTORS
    except OSError:
        return 0


def is_ended(pid):
    """Whether the process has released its memory, on its way out: it belongs to root already and holds nothing."""
    try:
        fields = stat_fields(pid)
        return fields[20] == b"0" and not is_headless(pid, fields)
    except OSError:
        return True


def is_headless(pid, fields):
    """Whether the first thread of a process has ended and others go on: its entry shows neither their memory nor their files.

    `fields`: of its stat."""
    if fields[0] != b"Z" or fields[17] in (b"0", b"1"):
        return False
    return any(thread != str(pid) and _goes_on(f"{pid}/task/{thread}") for thread in os.listdir(f"/proc/{pid}/task"))


def _goes_on(thread):
    """Whether the thread goes on: it is not ending, nor does it end with its process."""
    try:
        fields = stat_fields(thread)
    except OSError:
        return False
    return not int(fields[6]) & _IS_EXITING and not int(fields[28]) & _IS_KILLED


def is_awake(pid, has_signal):
    """Whether a thread of the process is not stopped. One that waits in the kernel stops later if the process `has_signal` to stop;
    one that is killed does nothing any more."""
    asleep = b"TtZXx" + (b"D" if has_signal else b"")
    try:
        threads = [f"{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task")]
        return any(stat_fields(thread)[0] not in asleep and _goes_on(thread) for thread in threads)
    except OSError:
        return False


def is_stopped(pid):
    """Returns whether the process is stopped. Call it after SIGSTOP, which takes effect a moment later."""
    until = time.monotonic() + _LONGEST_STOP
    while True:
        try:
            state = stat_fields(pid)[0]
        except OSError:
            return False
        if state in b"TtZXx" or time.monotonic() > until:
            return state in b"Tt"
        time.sleep(_MOMENT)


def deleted_mappings(pids, device):
    """Inodes of files that are mapped, deleted and perhaps no longer open."""
    found = set()
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}".encode()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps", "rb") as file:
                for line in file:
                    if line.endswith(b" (deleted)\n"):
                        _, _, _, where, inode, *_ = line.split()
                        if where == wanted:
                            found.add(int(inode))
        except OSError:
            continue
    return found


def folder_usage(path, most_entries):
    """Bytes and entries below a folder; stops at the limit. A folder that cannot be read counts as too many.

    `path`: nobody else can move it. Everything below may be moved, or replaced by links, at any moment."""
    size = entries = 0
    root, left = os.path.realpath(path), [path]
    while left and entries <= most_entries:
        folder = left.pop()
        try:
            with _scan(folder, path, root) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        left.append(os.path.join(folder, entry.name))
                    # Gone or renamed meanwhile: the others are still there.
                    with contextlib.suppress(FileNotFoundError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return size, most_entries + 1
    return size, entries


@contextlib.contextmanager
def _scan(folder, path, root):
    """Raises NotADirectoryError for a link, and for a folder that is reached through one."""
    try:
        fd = os.open(folder, _FOLDER)
    except PermissionError:
        fd = _open_closed(path, os.path.relpath(folder, path))
    try:
        if HAS_PROC and not f"{os.readlink(f'/proc/self/fd/{fd}')}/".startswith(f"{root}/"):
            raise NotADirectoryError(folder)
        with os.scandir(fd) as found:
            yield found
    finally:
        os.close(fd)


def _open_closed(path, below):
    """Opens a folder that its owner has closed, step by step: no link is followed."""
    try:
        folder = os.open(path, _FOLDER & ~os.O_NOFOLLOW)
    except PermissionError:
        _unlock(path, None)
        folder = os.open(path, _FOLDER)
    for name in below.split("/"):
        inner = None
        try:
            with contextlib.suppress(PermissionError):
                inner = os.open(name, _FOLDER, dir_fd=folder)
            if inner is None:
                _unlock(name, folder)
                inner = os.open(name, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _unlock(name, parent):
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, 0o700, dir_fd=parent, follow_symlinks=False)
        return
    fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)
