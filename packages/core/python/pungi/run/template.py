"""The template of a supervisor's workers: it has entered the jail as a worker does, sleeps, and forks one worker for each run.

So a worker finds done what is the same for all of them, and the supervisor, which never forks, keeps its memory to itself. The
template runs no foreign code, and forks while no process of a run is alive. A worker is a child of the supervisor (CLONE_PARENT),
which waits for it.

Runs see the template as a process of their user. It is not dumpable, and their filter refuses to signal it, and to change the priority
and the limits of others. A signal to everybody, or through its folder in /proc, reaches it, and ends or stops it, while the run may go
on: the supervisor continues it before each request. It also ends with a run that leaves processes behind, because the supervisor then
kills all there are. A template is never started after a run: the memory of the supervisor, which it would have, and its workers with it,
still holds what that run was given and has printed. So the supervisor takes no more runs if its template has ended.
"""

import contextlib
import os
import signal
import socket
import struct

from ..jail import file_gate, system
from . import fork_hooks, worker
from .supervisor_channel import JOB_FD, REPORT_FD, STDIN_FD

# The template's descriptor for requests. Workers close it.
_DOOR = STDIN_FD - 1
# The pipes of a worker come as the lowest descriptors that are free: the outputs in their places, and the others above them.
_FIRST_PIPE, _PIPES = 1, 5
_ABOVE_OUTPUTS = {3: STDIN_FD, 4: JOB_FD, 5: REPORT_FD}
_ROOM_FOR_PIPES = socket.CMSG_SPACE(_PIPES * 4)
_AS_EXPECTED = struct.pack(f"{_PIPES}i", *range(_FIRST_PIPE, _FIRST_PIPE + _PIPES))
_HURRIED, _CALM = b"h", b"c"
_LONGEST_PARKED = 65536
# Seconds in which it answers: only a process that is not what it should be does not.
_LONGEST_ANSWER = struct.pack("@ll", 30, 0)


class TemplateEnded(Exception):
    pass


class Template:
    """In the supervisor."""

    def __init__(self):
        # The running one, and the descriptor of its workers' questions about files (file_gate.py), if they ask.
        self.pid = self.gate = None
        # What a worker says when it is parked.
        self.parked = None
        self._door = None

    def start(self, place):
        """Before the first run. Returns in the supervisor only."""
        if place.group is None:
            self._start(place)
        else:
            place.group.admit_template(lambda: self._start(place))

    def _start(self, place):
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _LONGEST_ANSWER)
        self.pid = os.fork()
        if self.pid == 0:
            worker.begin_as_template(place, theirs.fileno())
        theirs.close()
        try:
            self.parked, fds, _, _ = socket.recv_fds(self._door, _LONGEST_PARKED, 1)
        except BlockingIOError:
            self.parked, fds = b"", ()
        self.gate = fds[0] if fds else None
        if not self.parked:
            raise OSError("the template of the workers ended while it entered its jail")

    def fork(self, is_hurried, job, reports, stdout, stderr, stdin):
        """Returns the pid of a new worker, which has these pipes. No process of a run is alive. Raises TemplateEnded."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, BlockingIOError):
            if self.pid is not None:
                os.kill(self.pid, signal.SIGCONT)  # if a run has stopped it
                socket.send_fds(self._door, [_HURRIED if is_hurried else _CALM], (stdout, stderr, stdin, job, reports))
                if answer := self._door.recv(16):
                    return _pid_in(answer)
        raise TemplateEnded

    def forget(self):
        """It has been waited for."""
        self._door.close()
        if self.gate is not None:
            os.close(self.gate)
        self.pid = self.gate = self._door = None


def _pid_in(answer):
    number = int(answer)
    if number < 0:
        raise OSError(-number, f"a worker could not be forked: {os.strerror(-number)}")
    return number


def keep_only(door):
    """In the template, before it enters the jail: closes all that it has of the supervisor, but for its standard streams. Returns the
    socket for requests, which stays in its workers when they have closed it: its object must not close another file when it goes."""
    os.dup2(door, _DOOR, inheritable=False)
    os.closerange(3, _DOOR)
    os.closerange(_DOOR + 1, 4096)
    return socket.socket(fileno=_DOOR)


def serve(door, parked):
    """In the template, once it has settled. Returns in each worker, which has its pipes: whether a caller waits for it. `parked`: what its
    supervisor says for a worker that is parked at once."""
    _send_ready(door, parked)
    _close_pipes()
    is_bare = not fork_hooks.are_needed()
    fork = system.fork_bare_sibling if is_bare else system.fork_sibling
    renew_random_numbers = fork_hooks.renew_all_random_numbers if is_bare else fork_hooks.renew_random_numbers
    while True:
        request, extras, _, _ = door.recvmsg(1, _ROOM_FOR_PIPES)
        if not request or extras[0][2] != _AS_EXPECTED:
            os._exit(70)
        for fd, place in _ABOVE_OUTPUTS.items():
            os.dup2(fd, place, inheritable=False)
        os.closerange(3, _FIRST_PIPE + _PIPES)
        _open_nothing()
        renew_random_numbers()
        try:
            pid = fork()
        except OSError as error:
            pid = -error.errno
        if pid == 0:
            fork_hooks.renew_main_thread()
            os.close(_DOOR)
            return request == _HURRIED
        os.write(_DOOR, b"%d" % pid)
        _close_pipes()


def _open_nothing():
    """The standard input of a worker is its own: the flags of an open file would tell the next run about the one before it."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _close_pipes():
    os.closerange(_FIRST_PIPE, 3)
    os.closerange(STDIN_FD, REPORT_FD + 1)


def _send_ready(door, parked):
    """With the descriptor of the questions: they are those of its workers, since it asks none itself."""
    try:
        os.fstat(file_gate.WORKERS_FD)
    except OSError:
        door.send(parked)
        return
    socket.send_fds(door, [parked], [file_gate.WORKERS_FD])
    os.close(file_gate.WORKERS_FD)
