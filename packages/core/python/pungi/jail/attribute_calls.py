"""Calls that change modes, owners, times and extended attributes, read from the calling process: a filter sees only their pointers.

The supervisor reads, the file keeper (file_keeper.py) finds the file and changes it. Other threads may change what is read here
meanwhile: nothing is read twice.
"""

import errno
import os
import re
import stat
import struct
from typing import NamedTuple

CHMOD, CHOWN, UTIME, SETXATTR, REMOVEXATTR = range(5)
_AT_FDCWD, _NO_FOLLOW, _EMPTY_PATH = -100, 0x100, 0x1000
_UTIME_NOW = (1 << 30) - 1
_LONGEST_PATH, _LONGEST_NAME = 4096, 255
# As much as ext4 keeps for one file. Attributes are not part of a file's size.
LONGEST_ATTRIBUTES = 4096
_HEADER = struct.Struct("=QB?Q4q3H")
# These names mean the descriptors of the process that uses them: here they would mean ours.
_OWN_DESCRIPTOR = re.compile(rb"/(?:proc/(?:self|thread-self)|dev)/fd/([0-9]{1,9})\Z")


class _Call(NamedTuple):
    """The roles of its arguments. `base`: the descriptor of the file, or of the folder that the path starts from."""

    action: int
    base: int | None
    path: int | None
    values: int
    flags: int | None = None
    follows: bool = True
    # The formats of times: whole seconds, or seconds and parts of so many nanoseconds.
    unit: int = 1


CALLS = {
    "chmod": _Call(CHMOD, None, 0, 1),
    "fchmod": _Call(CHMOD, 0, None, 1),
    "fchmodat": _Call(CHMOD, 0, 1, 2),
    "fchmodat2": _Call(CHMOD, 0, 1, 2, flags=3),
    "chown": _Call(CHOWN, None, 0, 1),
    "lchown": _Call(CHOWN, None, 0, 1, follows=False),
    "fchown": _Call(CHOWN, 0, None, 1),
    "fchownat": _Call(CHOWN, 0, 1, 2, flags=4),
    "utime": _Call(UTIME, None, 0, 1, unit=0),
    "utimes": _Call(UTIME, None, 0, 1, unit=1000),
    "futimesat": _Call(UTIME, 0, 1, 2, unit=1000),
    "utimensat": _Call(UTIME, 0, 1, 2, flags=3),
    "setxattr": _Call(SETXATTR, None, 0, 1),
    "lsetxattr": _Call(SETXATTR, None, 0, 1, follows=False),
    "fsetxattr": _Call(SETXATTR, 0, None, 1),
    "removexattr": _Call(REMOVEXATTR, None, 0, 1),
    "lremovexattr": _Call(REMOVEXATTR, None, 0, 1, follows=False),
    "fremovexattr": _Call(REMOVEXATTR, 0, None, 1),
}


class Change(NamedTuple):
    """A request to the file keeper."""

    # The number of the question that it answers.
    number: int
    action: int
    # Whether a symbolic link at the end of the path is followed.
    follows: bool
    # The inode of the base, if it was read: its name may refer to another file by now. Otherwise 0.
    inode: int
    # (mode,), (uid, gid), seconds and nanoseconds of both times, or (flags,).
    values: tuple
    # Absolute, without links; empty if the path is absolute.
    base: bytes
    # Empty: the base itself.
    path: bytes
    # The name of an extended attribute, and its value.
    name: bytes = b""
    value: bytes = b""

    def pack(self):
        values, texts = (*self.values, 0, 0, 0, 0)[:4], (self.base, self.path, self.name)
        header = _HEADER.pack(self.number, self.action, self.follows, self.inode, *values, *map(len, texts))
        return b"".join((header, *texts, self.value))

    @classmethod
    def unpack(cls, message):
        number, action, follows, inode, *values, base, path, name = _HEADER.unpack_from(message)
        ends = (_HEADER.size, base, path, name)
        base, path, name = (message[sum(ends[:at]) : sum(ends[: at + 1])] for at in (1, 2, 3))
        return cls(number, action, follows, inode, tuple(values), base, path, name, message[sum(ends) :])


def read(name, number, thread, arguments, box):
    """The change that a call asks for; None if there is nothing to change. OSError: the answer to the call."""
    call = CALLS[name]
    flags = arguments[call.flags] & 0xFFFFFFFF if call.flags is not None else 0
    if flags & ~(_NO_FOLLOW | _EMPTY_PATH):
        raise OSError(errno.EINVAL, "unknown flags")
    base = _signed(arguments[call.base]) if call.base is not None else _AT_FDCWD
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
        path = _read_path(memory, call, arguments, flags)
        values = _read_values(memory, call, arguments)
        attribute = _read_attribute(memory, call, arguments) if call.action in (SETXATTR, REMOVEXATTR) else ()
    follows = call.follows and not flags & _NO_FOLLOW
    if follows and (own := _OWN_DESCRIPTOR.match(path)):
        base, path = int(own[1]), b""
    asked = Change(number, call.action, follows, 0, values, b"", path, *attribute)
    return asked if path.startswith(b"/") else _relative(asked, thread, base, box)


def _relative(change, thread, base, box):
    """Starts from the folder or the file that the process has open."""
    link = f"/proc/{thread}/cwd" if base == _AT_FDCWD else f"/proc/{thread}/fd/{base}"
    try:
        target = os.readlink(os.fsencode(link))
    except FileNotFoundError:
        raise OSError(errno.EBADF, "no such descriptor") from None
    if not target.startswith(b"/"):  # a pipe, a socket
        if change.path:
            raise OSError(errno.ENOTDIR, "not a folder")
        return None
    if not box.has_path(os.fsdecode(target)):
        if not change.path:
            raise OSError(errno.EPERM, "not a file of the run")
        return change._replace(base=target)
    found = os.stat(link)
    if found.st_nlink == 0 and not change.path:
        return None  # it has no name, and no other process can open it
    return change._replace(base=target, inode=found.st_ino)


def _read_path(memory, call, arguments, flags):
    """The path; empty for the base itself."""
    if call.path is None:
        return b""
    address = arguments[call.path]
    if address == 0 and call.action == UTIME and call.base is not None and _signed(arguments[call.base]) != _AT_FDCWD:
        return b""
    path, end, _ = _read(memory, address, _LONGEST_PATH).partition(b"\0")
    if not end:
        raise OSError(errno.ENAMETOOLONG if len(path) == _LONGEST_PATH else errno.EFAULT, "a path without an end")
    if not path and not flags & _EMPTY_PATH:
        raise OSError(errno.ENOENT, "an empty path")
    return path


def _read_values(memory, call, arguments):
    if call.action == CHMOD:
        return (stat.S_IMODE(arguments[call.values] & 0xFFFFFFFF),)
    if call.action == CHOWN:
        return _signed(arguments[call.values]), _signed(arguments[call.values + 1])
    if call.action in (SETXATTR, REMOVEXATTR):
        return (arguments[call.values + 3] & 0xFFFFFFFF,) if call.action == SETXATTR else ()
    if arguments[call.values] == 0:
        return 0, _UTIME_NOW, 0, _UTIME_NOW
    layout = struct.Struct("=4q" if call.unit else "=2q")
    data = _read(memory, arguments[call.values], layout.size)
    if len(data) < layout.size:
        raise OSError(errno.EFAULT, "not all of it is there")
    if not call.unit:
        accessed, modified = layout.unpack(data)
        return accessed, 0, modified, 0
    accessed, accessed_part, modified, modified_part = layout.unpack(data)
    if call.unit > 1 and not (0 <= accessed_part < 1_000_000 and 0 <= modified_part < 1_000_000):
        raise OSError(errno.EINVAL, "not a part of a second")
    return accessed, accessed_part * call.unit, modified, modified_part * call.unit


def _read_attribute(memory, call, arguments):
    """The name of an attribute and, if it is to be set, its value."""
    name, end, _ = _read(memory, arguments[call.values], _LONGEST_NAME + 1).partition(b"\0")
    if not name or not end:
        raise OSError(errno.ERANGE, "not a name")
    size = arguments[call.values + 2] if call.action == SETXATTR else 0
    if size > LONGEST_ATTRIBUTES:
        raise OSError(errno.ENOSPC, "too large")
    value = _read(memory, arguments[call.values + 1], size) if size else b""
    if len(value) < size:
        raise OSError(errno.EFAULT, "not all of it is there")
    return name, value


def _read(memory, address, size):
    """Reads as much as is mapped: less where the memory ends."""
    try:
        return os.pread(memory.fileno(), size, address)
    except (OSError, OverflowError):
        raise OSError(errno.EFAULT, "a pointer to nothing") from None


def _signed(argument):
    """The kernel takes the lower half of the register."""
    return (argument & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
