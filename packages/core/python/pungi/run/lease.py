"""The guard's lease on the generation of an environment that its fork server serves: a shared flock on a file of the generation.

Removing a generation needs the exclusive lock, so a generation stays as long as its lease. The kernel ends the lease when the
guard dies, however it dies.
"""

import contextlib
import errno
import fcntl
import os

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class Lease:
    """`paths`: the files of the generation and of the environment's runs; None: an interpreter outside any environment."""

    def __init__(self, paths):
        self._generation = self._runs = None
        if paths is None:
            return
        try:
            self._generation = open_locked(paths["generation"], fcntl.LOCK_SH)
        except FileNotFoundError:
            raise OSError(f"the environment was changed or deleted: {paths['generation']} is gone") from None
        except PermissionError:
            return  # an environment of another user can be read, not locked: its owner changes it when nothing runs in it
        # If it cannot be created, nobody can delete the environment either.
        with contextlib.suppress(OSError):
            self._runs = os.open(paths["runs"], os.O_RDONLY | os.O_CREAT | _FLAGS, 0o600)

    def mark_runs(self, has_runs):
        """Shows other processes whether runs are active. Never waits: deleting an environment leaves leased generations alone."""
        if self._runs is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(self._runs, fcntl.LOCK_SH | fcntl.LOCK_NB if has_runs else fcntl.LOCK_UN)

    def close(self):
        """In the fork server: package code must not be able to release the lease. The guard still holds it."""
        for fd in (self._generation, self._runs):
            if fd is not None:
                os.close(fd)


def open_locked(path, operation, create=False):
    """The open file that holds the lock. FileNotFoundError if the file was removed, also during the wait."""
    access = os.O_RDWR if operation & fcntl.LOCK_EX else os.O_RDONLY
    while True:
        fd = os.open(path, access | _FLAGS | (os.O_CREAT if create else 0), 0o600)
        try:
            _lock(fd, operation, path)
            if os.path.samestat(os.fstat(fd), os.stat(path, follow_symlinks=False)):
                return fd
        except FileNotFoundError:
            if not create:
                os.close(fd)
                raise
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # another file has the name now


def _lock(fd, operation, path):
    try:
        fcntl.flock(fd, operation)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        folder = os.path.dirname(path)
        reason = f"the file system of {folder} has no file locks (flock); choose another folder with VENVS_BASE_PATH"
        raise UnsupportedError(reason) from None


class UnsupportedError(OSError):
    """The file system cannot lock files."""
