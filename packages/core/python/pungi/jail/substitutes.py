"""Replaces functions of the standard library whose system calls the filter refuses, by other calls that do the same.

A file without a name, in the temporary folder, is counted as disk; memory that processes share without a file would not be counted.
"""

import functools
import mmap
import os

from . import shared_names

_folder, _is_reserved = "/tmp", False
_mmap = mmap.mmap
_SHARED = mmap.MAP_SHARED
_LONGEST_COPY = 1 << 20


def install():
    """In the fork server, before packages are loaded: they may keep references to these functions."""
    mmap.mmap = _Mapping
    os.memfd_create = _unbound(functools.wraps(os.memfd_create)(_memfd_create))
    os.sendfile = _unbound(functools.wraps(os.sendfile)(_sendfile))


def install_for_landlock():
    """The same if the host's /dev/shm is out of reach, and changes of modes and times may be pretended."""
    shared_names.install()
    shared_names.load_libc()
    for name in ("chmod", "chown", "utime", "setxattr"):
        setattr(os, name, _fails_without_file(getattr(os, name)))


def settle(box):
    """In a worker: sets the folder of its files, and whether space can be allocated without writing to it."""
    global _folder, _is_reserved
    _folder, _is_reserved = box.temporary, box.device is None
    shared_names.settle(box.shared)


# As the attribute of a class, a built-in function does not become a method; pathlib of Python 3.10 relies on that.
_unbound = staticmethod


def _open_nameless():
    path = os.path.join(_folder, f".nameless-{os.urandom(8).hex()}")
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    return fd


class _Mapping(_mmap):
    """Shared memory of related processes: mmap(-1, length)."""

    def __new__(cls, fileno, length, flags=_SHARED, *arguments, **options):
        if fileno != -1 or not flags & _SHARED:
            return _mmap.__new__(cls, fileno, length, flags, *arguments, **options)
        if length <= 0:
            return _mmap.__new__(cls, fileno, length, mmap.MAP_PRIVATE)  # which fails as it should
        fd = _open_nameless()
        try:
            os.ftruncate(fd, length)
            if _is_reserved:  # else a page that does not fit later would be a SIGBUS
                os.posix_fallocate(fd, 0, length)
            return _mmap.__new__(cls, fd, length, flags & ~mmap.MAP_ANONYMOUS, *arguments, **options)
        finally:
            os.close(fd)

    def __repr__(self):
        return _mmap.__repr__(self).replace("<mmap ", "<mmap.mmap ", 1)


_Mapping.__name__ = _Mapping.__qualname__ = _Mapping.__module__ = "mmap"


def _fails_without_file(call):
    """The filter answers these with a success that changes nothing. A caller must still get an error for a missing file:
    pathlib's touch creates the file then."""

    @_unbound
    @functools.wraps(call)
    def checked(path, *arguments, **options):
        os.stat(path, **{name: options[name] for name in ("dir_fd", "follow_symlinks") if name in options})
        return call(path, *arguments, **options)

    for able in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        able.update({checked} if call in able else ())
    return checked


def _memfd_create(name, flags=getattr(os, "MFD_CLOEXEC", 1)):
    fd = _open_nameless()
    os.set_inheritable(fd, not flags & os.MFD_CLOEXEC)
    return fd


def _sendfile(out_fd, in_fd, offset, count):
    length = min(count, _LONGEST_COPY)
    if offset is not None:
        return os.write(out_fd, os.pread(in_fd, length, offset))
    data = os.read(in_fd, length)
    written = os.write(out_fd, data)
    os.lseek(in_fd, written - len(data), os.SEEK_CUR)
    return written
