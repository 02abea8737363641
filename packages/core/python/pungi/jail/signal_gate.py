"""Keeps a run from signalling processes outside the run, where neither a pid namespace nor landlock (before its version 6)
does.

The supervisor puts a filter on itself and on all it starts that asks it about every signal. It lets those to its own
descendants pass and refuses the rest. The supervisor itself signals by pidfd, which the filter ignores and workers may not
use.
"""

import ctypes
import errno
import fcntl
import os
import struct

from ..limits import watch
from . import seccomp

# struct seccomp_notif: id, pid, flags; the call's number, architecture and place; its six arguments.
QUESTION = struct.Struct("=QIIiIQ6Q")
# struct seccomp_notif_resp: id, result, error, flags.
ANSWER = struct.Struct("=QqiI")
_RECEIVE, _SEND, _ = seccomp.GATE_REQUESTS
_GO_ON = 1


class SignalGate:
    def __init__(self):
        self.fd = seccomp.install_signal_gate()

    def answer(self):
        """Decides about one signal. The arguments are numbers in registers: no thread can change them meanwhile."""
        question = bytearray(QUESTION.size)
        try:
            fcntl.ioctl(self.fd, _RECEIVE, question)
            number, sender, *_, target, _, _, _, _, _ = QUESTION.unpack(question)
            # The kernel takes the lower half of the register.
            is_own = _is_own(ctypes.c_int32(target & 0xFFFFFFFF).value, sender)
            fcntl.ioctl(self.fd, _SEND, ANSWER.pack(number, 0, *((0, _GO_ON) if is_own else (-errno.EPERM, 0))))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINTR):  # the process that asked has ended
                raise


def _is_own(target, sender):
    """Whether a signal of the sender, a process of the run, reaches only processes of the run.

    A process group never spans sessions, and every worker begins a new session."""
    if target in (0, sender):
        return True
    if target > 0:
        return _descends_from_us(target)
    return target < -1 and any(watch.group_of(pid) == -target for pid in watch.descendants_of(os.getpid()))


def _descends_from_us(pid):
    """The supervisor itself does not count: a run cannot signal it."""
    ours, above = os.getpid(), watch.parent_of(pid)
    while above not in (None, 0, 1, ours):
        above = watch.parent_of(above)
    return above == ours
