"""State of a process that a fork changes or shares, so that a copy of a session goes on as the original would."""

import contextlib
import os
import stat
import sys

try:
    import fcntl
except ImportError:  # Windows has no copies
    fcntl = None

# The files of a run have lower numbers.
_MOST_FILES = 1024
# Kept from before foreign code could replace them.
_listdir, _getcwd, _fstat, _lseek, _open, _dup2, _close = os.listdir, os.getcwd, os.fstat, os.lseek, os.open, os.dup2, os.close
_fcntl = getattr(fcntl, "fcntl", None)


def read():
    """Before the fork."""
    folder = None
    with contextlib.suppress(OSError):
        folder = _getcwd()
    return folder, _random_state(), [*_constant_files()]


def restore(state):
    """In the copy. Returns the folder to go back to."""
    folder, random_state, files = state
    if random_state is not None:
        # The module has seeded itself anew, as after every fork.
        sys.modules["random"].setstate(random_state)
    for fd, offset in files:
        with contextlib.suppress(OSError):
            _open_anew(fd, offset)
    return folder


def _random_state():
    with contextlib.suppress(Exception):  # it is not imported, or foreign
        return sys.modules["random"].getstate()
    return None


def _constant_files():
    """Files that can only be read. The position in an open file is shared by all processes that inherit it."""
    for fd in _descriptors():
        with contextlib.suppress(OSError):
            if fd > 2 and stat.S_ISREG(_fstat(fd).st_mode) and _fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                yield fd, _lseek(fd, 0, os.SEEK_CUR)


def _descriptors():
    try:
        return [*map(int, _listdir("/proc/self/fd"))]
    except OSError:  # the landlock tier shows a copy no entry of its own
        return range(3, _MOST_FILES)


def _open_anew(fd, offset):
    is_inheritable = not _fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    opened = _open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _lseek(opened, offset, os.SEEK_SET)
        _dup2(opened, fd, is_inheritable)
    finally:
        _close(opened)
