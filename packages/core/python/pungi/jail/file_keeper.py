"""Changes modes, times and attributes of runs' files in the landlock tier: one separate process for each fork server.

Landlock does not bound these calls, so the filter of packages refuses them, also to the supervisors that are forked behind it.
The keeper is forked from the guard, has the identity of the runs, and runs no foreign code. The guard gives each supervisor a
socket to it, and names the folder of that run. The keeper opens the target of a path without using it (O_PATH), sees by its
location whether it belongs to the run, and changes what it has opened: nothing can be exchanged in between.
"""

import contextlib
import ctypes
import errno
import os
import select
import signal
import socket
import struct
import sys
import time

from . import attribute_calls, attribute_changes, host_jail, landlock, system

# Number of the question, errno, microseconds that it took.
REPLY = struct.Struct("=QiI")
LONGEST_MESSAGE = 4 * 4096
_BUFFER = 1 << 20
_AT_FDCWD = -100
_OPENAT2, _NO_MAGIC_LINKS, _NO_LINKS = 437, 2, 4


class FileKeeper:
    """The keeper, as the guard sees it."""

    def __init__(self, door):
        self._door = door

    def fileno(self):
        return self._door.fileno()

    @contextlib.contextmanager
    def connect(self, name):
        """A socket for the supervisor of that name."""
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, its:
            for end in (ours, its):
                end.setblocking(False)
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
            with contextlib.suppress(BrokenPipeError):  # it has ended: calls are refused
                socket.send_fds(self._door, [os.fsencode(name)], [its.fileno()])
            yield ours

    def close(self):
        self._door.close()


def start(uid, work):
    """In the guard. `uid`: the owner of the files, if the guard is root. `work`: the folder that holds those of all runs."""
    door, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            door.close()
            with contextlib.suppress(OSError):  # a failure here also keeps the fork server from its jail, which reports it
                _settle(uid)
                _serve(inside, os.path.realpath(work))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        os._exit(0)
    inside.close()
    return FileKeeper(door)


def _settle(uid):
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(nothing, fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getuid() == 0:
        host_jail.become(uid)
    system.drop_capabilities()
    system.set_dumpable(False)
    system.die_with_parent()
    landlock.restrict([])  # it opens nothing for reading or writing


def _serve(door, work):
    """Serves until the guard goes. One change for each supervisor in turn: none keeps the others waiting."""
    poller, boxes = select.poll(), {}
    poller.register(door, select.POLLIN)
    while True:
        for fd, _ in poller.poll():
            if fd != door.fileno():
                if not boxes[fd].answer():
                    poller.unregister(fd)
                    boxes.pop(fd).close()
                continue
            name, fds, _, _ = socket.recv_fds(door, 4096, 1)
            if not fds:
                return
            boxes[fds[0]] = _Box(socket.socket(fileno=fds[0]), os.path.join(work, os.fsdecode(name)))
            poller.register(fds[0], select.POLLIN)


class _Box:
    """The folder of one supervisor's runs."""

    def __init__(self, channel, root):
        self._channel = channel
        self._inside = os.fsencode(root) + b"/"

    def close(self):
        self._channel.close()

    def answer(self):
        """False: no process asks any more."""
        began = time.thread_time()
        try:
            message = self._channel.recv(LONGEST_MESSAGE)
            if not message:
                return False
            asked = attribute_calls.Change.unpack(message)
            error = self._change(asked)
            took = min(int((time.thread_time() - began) * 1_000_000), 0xFFFFFFFF)
            self._channel.send(REPLY.pack(asked.number, error, took))
        except BlockingIOError:
            return True
        except (OSError, struct.error):
            return False
        return True

    def _change(self, asked):
        try:
            with _opened(asked) as fd:
                if not os.readlink(os.fsencode(f"/proc/self/fd/{fd}")).startswith(self._inside):
                    return errno.EPERM
                attribute_changes.ACTIONS[asked.action](f"/proc/self/fd/{fd}", os.fstat(fd), asked)
        except (OSError, ValueError, LookupError) as failure:
            return getattr(failure, "errno", errno.EINVAL)
        return 0


@contextlib.contextmanager
def _opened(asked):
    """The target of the path, as an open file that can be neither read nor written."""
    base = _AT_FDCWD
    with contextlib.ExitStack() as opened:
        if asked.base:
            base = _open(_AT_FDCWD, asked.base, False, _NO_LINKS | _NO_MAGIC_LINKS)
            opened.callback(os.close, base)
            if asked.inode and os.fstat(base).st_ino != asked.inode:
                raise FileNotFoundError(errno.ENOENT, "it has another name by now")
        if asked.path:
            base = _open(base, asked.path, asked.follows, _NO_MAGIC_LINKS)
            opened.callback(os.close, base)
        yield base


class _How(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def _open(base, path, follows, resolve):
    how = _How(os.O_PATH | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW), 0, resolve)
    return system.check(system.syscall(_OPENAT2, base, path, ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how))), "openat2")
