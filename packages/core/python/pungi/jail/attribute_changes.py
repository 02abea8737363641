"""The changes that the file keeper (file_keeper.py) makes to a file of the run, and those that it refuses."""

import ctypes
import errno
import os
import stat

from . import attribute_calls, system
from .system_calls import ARCHITECTURES, NUMBERS

_AT_FDCWD = -100
_UTIMENSAT = {machine: NUMBERS["utimensat"][column] for column, machine in enumerate(ARCHITECTURES)}


def _chmod(path, found, asked):
    """Drops the set-uid, set-gid and sticky bits, and keeps folders open to their owner: the supervisor has to empty them."""
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.EOPNOTSUPP, "a link has no mode")
    os.chmod(path, asked.values[0] & 0o777 | (0o700 if stat.S_ISDIR(found.st_mode) else 0))


def _chown(_path, found, asked):
    """Accepts only the present owner."""
    if any(wanted not in (-1, owner) for wanted, owner in zip(asked.values, (found.st_uid, found.st_gid))):
        raise OSError(errno.EPERM, "only root gives files away")


def _utime(path, _found, asked):
    times = (ctypes.c_int64 * 4)(*asked.values)
    system.check(system.syscall(_UTIMENSAT[system.MACHINE], _AT_FDCWD, path.encode(), ctypes.byref(times), 0), "utimensat")


def _setxattr(path, _found, asked):
    """Bounds all attributes of a file by what ext4 has room for: they do not count as disk."""
    _check_name(asked.name)
    others = [name for name in os.listxattr(path) if os.fsencode(name) != asked.name]
    size = sum(len(name) + len(os.getxattr(path, name)) for name in others) + len(asked.name) + len(asked.value)
    if size > attribute_calls.LONGEST_ATTRIBUTES:
        raise OSError(errno.ENOSPC, "too many attributes")
    os.setxattr(path, asked.name, asked.value, asked.values[0])


def _removexattr(path, _found, asked):
    _check_name(asked.name)
    os.removexattr(path, asked.name)


def _check_name(name):
    """Allows only the user's attributes: others give rights to files."""
    if not name.startswith(b"user."):
        is_known = name.startswith((b"trusted.", b"security.", b"system."))
        raise OSError(errno.EPERM if is_known else errno.EOPNOTSUPP, "not a user's attribute")


ACTIONS = {
    attribute_calls.CHMOD: _chmod,
    attribute_calls.CHOWN: _chown,
    attribute_calls.UTIME: _utime,
    attribute_calls.SETXATTR: _setxattr,
    attribute_calls.REMOVEXATTR: _removexattr,
}
