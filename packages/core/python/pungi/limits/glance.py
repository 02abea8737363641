"""Reads at a glance how much a worker has used when it has finished: the usual worker is then all there is of its run."""

import os

from . import watch

_READ = os.O_RDONLY | os.O_CLOEXEC
# Fields of /proc/PID/stat after the name: page faults of children that it has waited for, and threads.
_FAULTS_OF_CHILDREN, _THREADS = 8, 17


class Glance:
    """A worker's figures, from files that were opened while it was parked or stopped."""

    def __init__(self, pid, others):
        """`others`: children of this process that are no part of the run."""
        self._pid = pid
        self._siblings = [*others, pid]
        # As the kernel lists our children when these are all.
        self._list_of_siblings = "".join(f"{each} " for each in self._siblings).encode()
        self._files = self._status, self._stat, self._children = [
            os.open(f"/proc/{pid}/{name}", _READ) for name in ("status", "stat", f"task/{pid}/children")
        ]

    def read(self):
        """Returns CPU time in ms and peak resident bytes, or None if they would not cover all that the run used."""
        fields = self._stat_fields()
        if fields[_FAULTS_OF_CHILDREN] != b"0" or fields[_THREADS] != b"1" or not self.is_alone():
            return None
        return self._use()

    def is_single(self):
        """Whether it has one thread and is alone: the kernel lists a child with the thread that has forked it."""
        return self._has_one_thread() and self.is_alone()

    def _has_one_thread(self):
        return self._stat_fields()[_THREADS] == b"1"

    def _stat_fields(self):
        return os.pread(self._stat, 4096, 0).rpartition(b")")[2].split(None, _THREADS + 1)

    def _use(self):
        status = os.pread(self._status, 4096, 0)
        mark = status.find(b"VmHWM:")
        return (self.cpu_ms(), int(status[mark + 6 : status.find(b"kB", mark)]) * 1024) if mark >= 0 else None

    def cpu_ms(self):
        return watch.cpu_clock_ms(self._pid)

    def is_alone(self):
        """Its children first: if it ends meanwhile, they are ours by the second look."""
        return not os.pread(self._children, 4096, 0) and watch.list_own_children() == self._list_of_siblings

    def is_only(self, kept):
        """Returns whether the worker has one thread and is the only process of the run besides `kept`. Call it after SIGSTOP: only a
        fork that was under way can still add a process. All others are our children or descend from one."""
        return self._has_one_thread() and not os.pread(self._children, 4096, 0) and set(watch.own_children()) == kept.union(self._siblings)

    def close(self):
        for fd in self._files:
            os.close(fd)


class GroupGlance(Glance):
    """Figures of a worker whose cgroup counts all processes of the run and their use, so that fewer files are read."""

    def __init__(self, pid, others, group, template):
        self._pid, self._others, self._group, self._template = pid, others, group, template
        self._status = os.open(f"/proc/{pid}/status", _READ)
        self._files = [self._status]
        self._whole = None

    def read(self):
        return self._use() if self.is_alone() else None

    def is_alone(self):
        """A run can end the template, and have another process in its place."""
        return (self._template is None or self._template.pid is not None) and self._group.has_one_task()

    def is_single(self):
        return self.is_alone()

    def is_only(self, kept):
        if self._whole is None:
            self._whole = Glance(self._pid, self._others)
        return self._whole.is_only(kept)

    def close(self):
        super().close()
        if self._whole is not None:
            self._whole.close()


def glance_at(worker, template, group):
    """Returns None if /proc does not show the worker, which is then waited for."""
    others = () if template is None or template.pid is None else (template.pid,)
    try:
        return GroupGlance(worker, others, group, template) if group is not None and group.counts_all else Glance(worker, others)
    except OSError:
        return None
