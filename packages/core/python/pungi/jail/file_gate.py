"""Calls on files that runs may make on their own files only: flock and, in the landlock tier, changes of modes and times.

A filter does not see which file a call is about. So workers have a filter that asks, and the supervisor answers:

- flock: a lock on a read-only file makes programs of the host wait. The supervisor takes the descriptor from the process and
locks it itself: the file that it has checked cannot be exchanged any more. A lock belongs to the open file, which both have.
- Modes, owners and times, which landlock does not bound: it reads the request (attribute_calls.py) and has the file keeper
carry it out (file_keeper.py). It never waits for the keeper.
"""

import contextlib
import errno
import fcntl
import os
import select
import struct
import time

from ..limits import watch
from . import attribute_calls, file_keeper, seccomp, system
from .signal_gate import ANSWER, QUESTION

# The worker's descriptor for questions, until its job comes: the first that is free.
WORKERS_FD = 3
_RECEIVE, _SEND, _IS_VALID = seccomp.GATE_REQUESTS
_PIDFD_GETFD = 438
_YAMA = "/proc/sys/kernel/yama/ptrace_scope"
_NUMBER = struct.Struct("=Q")
_MASK = 0xFFFFFFFF
# For the keeper to finish the requests of an ended run: a change must not reach the files of the next run.
_LONGEST_END_MS = 1000


def can_answer():
    """In a supervisor: whether it can take descriptors and read memory. Docker's default profile and strict settings of Yama refuse it."""
    try:
        with open(_YAMA, encoding="ascii") as file:
            if int(file.read()) > 1:
                return False
    except (OSError, ValueError):
        pass  # there is no Yama
    try:
        pidfd = os.pidfd_open(os.getpid())
    except (OSError, AttributeError):
        return False
    try:
        os.close(_take_descriptor(pidfd, pidfd))
        return True
    except OSError:
        return False
    finally:
        os.close(pidfd)


def install(asks_attributes):
    """In a worker, before its last filter. Returns whether its supervisor answers from here on."""
    try:
        fd = seccomp.install_file_gate(asks_attributes)
    except OSError:
        return False  # an old kernel, or another filter that asks
    if fd != WORKERS_FD:
        os.dup2(fd, WORKERS_FD, inheritable=False)
        os.close(fd)
    return True


def let_go():
    """In a worker, before foreign code, which must not answer itself."""
    with contextlib.suppress(OSError):
        os.close(WORKERS_FD)


def take_questions(worker_pidfd):
    """In the supervisor, while the worker waits for its job."""
    return _take_descriptor(worker_pidfd, WORKERS_FD)


class FileGate:
    """In the supervisor: the gate of a worker and all that it starts; then of the next one, if they are of one template."""

    def __init__(self, fd, box, keeper):
        """`fd`: the questions. `keeper`: the socket to the file keeper, or None."""
        self.fd = fd
        self._box, self.keeper = box, keeper
        self._poller = select.poll()
        self._poller.register(self.fd, select.POLLIN)
        # Waiting for a lock: question to the open file and the operation.
        self._waiting = {}
        # Questions that the keeper has.
        self._asked = set()
        # CPU time that the run's questions cost the supervisor and the keeper: it is charged to the run.
        self.cpu_ms = 0.0

    def close(self):
        """Called when a worker has ended, with all that it started; the next one may use the gate."""
        for fd, _ in self._waiting.values():
            os.close(fd)
        self._waiting, self.cpu_ms = {}, 0.0

    def answer(self):
        """Decides about one call. False: no process is left that could ask."""
        with self._charging():
            return self._answer()

    def retry(self):
        if self._waiting:
            with self._charging():
                self._retry()

    def pass_on(self):
        """Passes an answer of the keeper to the process that asked. False: the keeper has ended."""
        with self._charging():
            reply = _receive(self.keeper)
            if reply is None:
                return True
            if not reply:
                self._give_up()
                return False
            number, error, microseconds = file_keeper.REPLY.unpack(reply)
            self._asked.discard(number)
            self.cpu_ms += microseconds / 1000
            self._reply(number, error)
            return True

    def settle(self):
        """Called once no process asks any more. Returns whether the keeper has nothing left to do."""
        while self._asked:
            keeper = select.poll()
            keeper.register(self.keeper, select.POLLIN)
            if not keeper.poll(_LONGEST_END_MS) or not self.pass_on():
                return False
        return True

    @contextlib.contextmanager
    def _charging(self):
        began = time.process_time()
        try:
            yield
        finally:
            self.cpu_ms += (time.process_time() - began) * 1000

    def _answer(self):
        events = dict(self._poller.poll(0)).get(self.fd, 0)
        if not events & select.POLLIN:
            return not events & select.POLLHUP
        question = bytearray(QUESTION.size)
        try:
            fcntl.ioctl(self.fd, _RECEIVE, question)
        except OSError:
            return True  # the process that asked has ended
        number, thread, _, call, _, _, *arguments = QUESTION.unpack(question)
        try:
            name = seccomp.name_of(call)
            if name == "flock":
                self._lock(number, thread, *arguments[:2])
            else:
                self._change(name, number, thread, arguments)
        except OSError as error:
            self._reply(number, error.errno)
        return True

    def _change(self, name, number, thread, arguments):
        asked = attribute_calls.read(name, number, thread, arguments, self._box)
        if not self._is_asked(number):
            return  # the data may be another process's
        if asked is None:
            return self._reply(number, 0)
        if self.keeper is None:
            raise PermissionError(errno.EPERM, "the keeper has ended")
        try:
            self.keeper.send(asked.pack())
        except BlockingIOError:
            raise OSError(errno.ENOMEM, "too many at once") from None
        self._asked.add(number)

    def _give_up(self):
        self.keeper = None
        for number in self._asked:
            self._reply(number, errno.EPERM)
        self._asked.clear()

    def _lock(self, number, thread, descriptor, operation):
        self._waiting[number] = self._open(number, thread, descriptor & _MASK), operation & _MASK
        self._try(number)

    def _retry(self):
        for number in list(self._waiting):
            if self._is_asked(number):
                self._try(number)
            else:
                os.close(self._waiting.pop(number)[0])

    def _open(self, number, thread, descriptor):
        pidfd = os.pidfd_open(watch.process_of(thread))
        try:
            if not self._is_asked(number):  # its number may be another's by now
                raise ProcessLookupError(errno.ESRCH, "it has ended")
            fd = _take_descriptor(pidfd, descriptor)
        finally:
            os.close(pidfd)
        if self._box.has(fd):
            return fd
        os.close(fd)
        raise OSError(errno.ENOSYS, "not a file of the run")

    def _try(self, number):
        fd, operation = self._waiting[number]
        error = 0
        try:
            fcntl.flock(fd, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            if not operation & fcntl.LOCK_NB:
                return
            error = errno.EWOULDBLOCK
        except OSError as failure:
            error = failure.errno
        os.close(self._waiting.pop(number)[0])
        self._reply(number, error)

    def _is_asked(self, number):
        try:
            fcntl.ioctl(self.fd, _IS_VALID, _NUMBER.pack(number))
            return True
        except OSError:
            return False

    def _reply(self, number, error):
        with contextlib.suppress(OSError):  # it does not wait any more
            fcntl.ioctl(self.fd, _SEND, ANSWER.pack(number, 0, -error, 0))


def _receive(keeper):
    """None: nothing yet. Empty: it has ended."""
    try:
        return keeper.recv(file_keeper.REPLY.size)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _take_descriptor(pidfd, number):
    return system.check(system.syscall(_PIDFD_GETFD, pidfd, number, 0), "pidfd_getfd")
