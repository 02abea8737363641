"""Files that a script leaves open: what it has written is in them when its call ends, as it would be at the end of a process."""

import gc
import io
import os
import stat

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_FOLDER, _OF_EVERY_SCRIPT = "/proc/self/fd", 5
_KINDS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
# Text first: it is written to the buffer of bytes below it.
_FLUSHES = {kind: kind.flush for kind in _KINDS}
# Kept from before foreign code could replace them.
_get_objects, _listdir, _fstat, _flags_of = gc.get_objects, os.listdir, os.fstat, getattr(fcntl, "fcntl", None)
_stat = os.stat


def flush():
    """Never raises. The objects of the script are searched only if it has a file open for writing."""
    try:
        if _has_others():
            files = {fd for fd in map(int, _listdir(_FOLDER)) if fd > 2 and _is_written(fd)}
            if files:
                _flush(files)
    except Exception:
        pass  # there is no such folder, or foreign code has changed what this looks at


def _has_others():
    """Whether it has more files open than every script: its streams, and the pipes to the supervisor."""
    if _stat(_FOLDER).st_size != _OF_EVERY_SCRIPT:  # their number, since Linux 6.2; 0 before
        return True
    try:
        return not all(map(_fstat, (0, 1, 2)))
    except OSError:
        return True  # a number was closed: there is another one


def _flush(files):
    found = [each for each in _get_objects() if issubclass(type(each), _KINDS)]
    for kind, flush_kind in _FLUSHES.items():
        for each in found:
            try:
                if issubclass(type(each), kind) and not each.closed and each.fileno() in files:
                    flush_kind(each)
            except Exception:
                continue  # the disk is full, or it has no descriptor any more


def _is_written(fd):
    try:
        return stat.S_ISREG(_fstat(fd).st_mode) and _flags_of(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        return False  # closed meanwhile
