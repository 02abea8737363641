"""Creates the cgroups of runs and removes them: one process for each guard, outside every jail.

Jails hide the cgroup file system. The guard asks for a cgroup for each supervisor and passes on open files of it: limits to
write and figures to read. No descriptor of a folder and none of cgroup.procs leaves this process: a folder leads to its parent,
and a process that may write to cgroup.procs could move processes of others. A worker asks to be moved, and the kernel
identifies it. The keeper ends after the guard, also after one that was killed.

OWN/NAME               all runs of this server: what they may use together
OWN/NAME/PID           the runs of this keeper's fork server
OWN/NAME/PID/NUMBER    the runs of one supervisor, one after the other
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import time

from ..jail import system
from . import cgroup_place, run_group
from .cgroup_place import Unavailable, read, write

_MOST_GROUPS = 1024
_RETRY_MS = 10
_LONGEST_REMOVAL = 5.0
_SHARE = 0.8
ENTER = b"enter"


class Groups:
    """The keeper, as the guard sees it."""

    def __init__(self, about, door=None):
        self._about, self._door = about, door

    @property
    def about(self):
        """{"version": "v1" or "v2", "totalMb": NUMBER}, or {"version": None, "reason": TEXT}. Waits until the keeper has tried to move
        a process, for which the kernel takes its time."""
        if self._about is None:
            answer = self._door.recv(4096)
            self._about = json.loads(answer) if answer else {"version": None, "reason": "the cgroup keeper ended"}
        return self._about

    @contextlib.contextmanager
    def ask(self):
        """The description of a new cgroup, and its descriptors, for a supervisor; the cgroup ends with the last holder of them."""
        about, fds = None, []
        if self.about["version"] is not None:
            self._door.send(b"group")
            answer, fds, _, _ = socket.recv_fds(self._door, 4096, run_group.MOST_DESCRIPTORS)
            about = json.loads(answer) if answer else {"failed": "the cgroup keeper ended"}
            if "failed" in about:
                raise OSError(about["failed"])
        try:
            yield about, fds
        finally:
            for fd in fds:
                os.close(fd)

    def close(self):
        if self._door is not None:
            self._door.close()


def start(wanted):
    """Starts the keeper, before the guard. `wanted`: {"name", "server", "totalMb"}, or None if cgroups are switched off."""
    if not wanted or not system.IS_LINUX:
        reason = "switched off by CGROUPS=off" if system.IS_LINUX else "only Linux has cgroups"
        return Groups({"version": None, "reason": reason})
    door, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        door.close()
        # Not a child of the guard, which ends all its children.
        if os.fork() == 0:
            try:
                _keep(inside, wanted)
            except BaseException:
                sys.excepthook(*sys.exc_info())
        os._exit(0)
    inside.close()
    os.waitpid(child, 0)
    return Groups(None, door)


def _keep(inside, wanted):
    """Keeps stderr open: the server takes its end for the end of all processes."""
    for fd in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR), fd)
    system.set_dumpable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        place = cgroup_place.find(wanted["server"])
        keeper = Keeper(place, wanted["name"], wanted["totalMb"], inside)
    except Unavailable as error:
        inside.send(json.dumps({"version": None, "reason": str(error)}).encode()[:4096])
        return
    inside.send(json.dumps({"version": place.version, "totalMb": keeper.total >> 20}).encode())
    keeper.serve()


class Keeper:
    def __init__(self, place, name, total_mb, door):
        self.total = total_mb << 20 if total_mb else int(place.most_memory * _SHARE)
        self._place, self._door = place, door
        self._groups, self._leaving = {}, []
        self._poller, self._is_open = select.poll(), True
        self._serial = 0
        self._lock = None
        try:
            _sweep(place)
            self._server = _Group(place, name)
            self._open_server()
            self._own = self._server.below(str(os.getpid()))
            self._own.make()
            self._try_out()
        except OSError as error:
            self._remove_all()
            raise Unavailable(f"{error.strerror}: {error.filename}") from error

    def _open_server(self):
        """The folder that the fork servers of one server share. The lock shows that one of them is alive; the kernel frees it."""
        for _ in range(100):
            self._server.make(exist_ok=True)
            self._lock = os.open(self._server.memory, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._lock, fcntl.LOCK_SH)
            # Another fork server may have removed it just before this one held the lock.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(self._server.memory), os.fstat(self._lock)):
                    self._server.limit_total(self.total)
                    return
            os.close(self._lock)
        raise OSError(0, "could not be locked", self._server.memory)

    def _try_out(self):
        """Whether a process can really be moved."""
        trial = self._own.below("0")
        trial.make(holds_processes=True)
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        try:
            trial.move(child)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            trial.remove()

    def serve(self):
        """Serves until the fork server and all its supervisors are gone."""
        self._poller.register(self._door, select.POLLIN)
        try:
            while self._is_open:
                for fd, _ in self._poller.poll(_RETRY_MS if self._leaving else None):
                    if fd == self._door.fileno():
                        self._on_door()
                    else:
                        self._on_life(fd)
                self._leaving = [group for group in self._leaving if not group.end()]
        finally:
            self._remove_all()

    def _on_door(self):
        self._is_open = bool(self._door.recv(16))
        if self._is_open:
            with contextlib.suppress(BrokenPipeError):
                try:
                    self._give_group()
                except OSError as error:
                    self._door.send(json.dumps({"failed": f"no cgroup: {error}"}).encode())

    def _give_group(self):
        """Sends the socket that moves a worker and shows the end of all holders, and the open files of a new cgroup."""
        if len(self._groups) + len(self._leaving) >= _MOST_GROUPS:
            raise OSError("there are too many")
        self._serial += 1
        group = self._own.below(str(self._serial))
        group.make(holds_processes=True)
        life, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        life.setblocking(False)
        life.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        # From here on it is removed when nobody holds the other end.
        self._groups[life.fileno()] = life, group
        self._poller.register(life, select.POLLIN)
        names, fds = group.open_files()
        try:
            about = json.dumps({"version": self._place.version, "files": names}).encode()
            socket.send_fds(self._door, [about], [theirs.fileno(), *fds])
        finally:
            theirs.close()
            for fd in fds:
                os.close(fd)

    def _on_life(self, fd):
        life, group = self._groups[fd]
        try:
            asked, extras, _, _ = life.recvmsg(16, socket.CMSG_SPACE(12))
            if asked == ENTER:
                life.send(_try_to_move(group, extras))
        except BlockingIOError:
            return
        except OSError:
            asked = b""
        if not asked:
            self._poller.unregister(fd)
            del self._groups[fd]
            life.close()
            self._leaving.append(group)

    def _remove_all(self):
        left = [group for _, group in self._groups.values()] + self._leaving
        deadline = time.monotonic() + _LONGEST_REMOVAL
        while (left := [group for group in left if not group.end()]) and time.monotonic() < deadline:
            time.sleep(_RETRY_MS / 1000)
        for group in (getattr(self, "_own", None), getattr(self, "_server", None)):
            if group is not None:
                group.remove()  # the server's own fails while another of its fork servers is there


def _try_to_move(group, extras):
    for _, kind, data in extras:
        if kind == socket.SCM_CREDENTIALS:
            try:
                group.move(struct.unpack("3i", data)[0])
                return b"ok"
            except OSError as error:
                return str(error).encode()[:200]
    return b"nobody asked"


def _sweep(place):
    """Removes the cgroups of servers that were killed."""
    top = place.folders["memory"]
    for name in os.listdir(top):
        if name.startswith("pungi-") and name != cgroup_place.HOST:
            with contextlib.suppress(OSError):
                lock = os.open(f"{top}/{name}", os.O_RDONLY | os.O_DIRECTORY)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _Group(place, name).remove_tree()
                finally:
                    os.close(lock)


class _Group:
    """One cgroup: a folder in v2, one for each controller in v1."""

    def __init__(self, place, path):
        self._place, self._path = place, path
        self._folders = {name: f"{folder}/{path}" for name, folder in place.folders.items()}
        self.memory = self._folders["memory"]

    def below(self, name):
        return _Group(self._place, f"{self._path}/{name}")

    def make(self, exist_ok=False, holds_processes=False):
        for folder in dict.fromkeys(self._folders.values()):
            os.makedirs(folder, exist_ok=exist_ok)
        if self._place.version == "v2" and not holds_processes:
            cgroup_place.pass_on(self.memory)
        if holds_processes:
            self._forbid_swap()

    def _forbid_swap(self):
        name, value = ("memory.swap.max", "0") if self._place.version == "v2" else ("memory.swappiness", "0")
        with contextlib.suppress(FileNotFoundError):
            write(f"{self.memory}/{name}", value)

    def limit_total(self, most):
        if self._place.version == "v1":
            with contextlib.suppress(OSError):  # newer kernels have no other way
                write(f"{self.memory}/memory.use_hierarchy", "1")
        write(f"{self.memory}/{run_group.FILES[self._place.version]['limit'].name}", str(most))

    def open_files(self):
        """The names of those of run_group.FILES that exist, and a descriptor for each."""
        names, fds = [], []
        for name, file in run_group.FILES[self._place.version].items():
            folder = self._folders.get(file.controller)
            fd = None if folder is None else _open(f"{folder}/{file.name}", file.mode)
            if fd is not None:
                fds.append(fd)
                names.append(name)
        return names, fds

    def move(self, pid):
        for folder in dict.fromkeys(self._folders.values()):
            write(f"{folder}/cgroup.procs", str(pid))

    def end(self):
        """Kills its processes and removes it; False if it is not empty yet."""
        try:
            write(f"{self.memory}/cgroup.kill", "1")
        except OSError:
            with contextlib.suppress(OSError):
                for pid in map(int, read(f"{self.memory}/cgroup.procs").split()):
                    if pid > 0:
                        os.kill(pid, signal.SIGKILL)
        return self.remove()

    def remove(self):
        is_removed = True
        for folder in dict.fromkeys(self._folders.values()):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                continue
            except OSError:
                is_removed = False
        return is_removed

    def remove_tree(self):
        for folder in dict.fromkeys(self._folders.values()):
            for path, _, _ in os.walk(folder, topdown=False):
                os.rmdir(path)


def _open(path, mode):
    """None if this kernel does not have the file. Files that older kernels do not let us write can still be read."""
    for wanted in (mode, os.O_RDONLY):
        with contextlib.suppress(OSError):
            return os.open(path, wanted | os.O_CLOEXEC)
    return None
