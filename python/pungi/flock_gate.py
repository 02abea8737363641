"""flock for runs: the supervisor takes the locks for them, and only on files that are theirs.

A filter does not see which file a call is about, and a lock on a file that can only be read makes programs of the host wait. So
workers have a filter that asks. The supervisor takes the descriptor from the process and locks it itself: what it has looked at
cannot be exchanged any more. A lock belongs to the open file, which both of them have.
"""

import contextlib
import errno
import fcntl
import os
import select
import struct
import time

from . import seccomp, system, watch
from .signal_gate import ANSWER, QUESTION

# Where a worker has the descriptor of its questions, until its job comes: the first that is free.
WORKERS_FD = 3
_RECEIVE, _SEND, _IS_VALID = seccomp.GATE_REQUESTS
_PIDFD_GETFD = 438
_NUMBER = struct.Struct("=Q")
_MASK = 0xFFFFFFFF


def install():
    """In a worker, before its last filter. Whether it may lock files from here on."""
    try:
        fd = seccomp.install_flock_gate()
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


class FlockGate:
    """In the supervisor: of one worker and all that it starts."""

    def __init__(self, worker_pidfd, box):
        self.fd = _take_descriptor(worker_pidfd, WORKERS_FD)
        self._box = box
        self._poller = select.poll()
        self._poller.register(self.fd, select.POLLIN)
        # Those who wait for a lock: question to the open file and the operation.
        self._waiting = {}
        # What the run's questions cost the supervisor: it counts as the run's own.
        self.cpu_ms = 0.0

    def close(self):
        for fd, _ in self._waiting.values():
            os.close(fd)
        os.close(self.fd)

    def answer(self):
        """Decides about one call. False: nobody is left who could ask."""
        with self._charging():
            return self._answer()

    def retry(self):
        if self._waiting:
            with self._charging():
                self._retry()

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
            return True  # whoever asked has ended
        number, thread, *_, descriptor, operation, _, _, _, _ = QUESTION.unpack(question)
        try:
            fd = self._open(number, thread, descriptor & _MASK)
        except OSError as error:
            self._reply(number, error.errno)
        else:
            self._waiting[number] = fd, operation & _MASK
            self._try(number)
        return True

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


def _take_descriptor(pidfd, number):
    return system.check(system.syscall(_PIDFD_GETFD, pidfd, number, 0), "pidfd_getfd")
