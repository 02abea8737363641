"""Named semaphores and named shared memory, as files of the run's own folder.

libc keeps both in /dev/shm. Without a mount namespace that is the host's, which runs cannot reach: this module replaces the
functions that Python's modules call. A copy in the environment does the same in interpreters that a run starts, so this file
imports none of our modules, and none that an interpreter has not imported before its first script.
"""

import os
import sys
from _frozen_importlib import BuiltinImporter
from _frozen_importlib_external import ExtensionFileLoader
from _thread import get_ident
from time import time

# Next to the folders that TMPDIR and HOME name. The folder exists only if the host's /dev/shm is hidden.
FOLDER = "pungi-shm"
_HOST_FOLDER = "/dev/shm"
_COPY = "_pungi_shm"
_PTH = (
    f'import os; any(os.path.isdir(os.path.join(os.environ.get(name, "/"), "..", "{FOLDER}")) for name in ("TMPDIR", "HOME"))'
    f' and __import__("{_COPY}").install_in_child()\n'
)
# All semaphores of a run are in one file that is never removed: the size of a removed file that is only mapped is not visible.
_SEMAPHORES, _SLOT, _WINDOW = ".semaphores", 64, 1 << 16
_LONGEST_NAME = 255
_RECURSIVE_MUTEX, _SEMAPHORE = 0, 1
_READ_WRITE, _MAP_SHARED = 3, 1

_folder = _libc = None
_TEXT = None
if __name__ != _COPY:  # read with the rights of the user that starts Pungi: the sandbox's user may not see our folder
    with open(__file__, encoding="utf-8") as file:
        _TEXT = file.read()
_windows = {}


def write(site):
    """Puts the copy into the folder of packages of an environment."""
    texts = {f"{_COPY}.py": _TEXT, f"{_COPY}.pth": _PTH}
    for name, text in texts.items():
        path = os.path.join(site, name)
        if _has(path, text):
            continue  # an environment that was cloned shares it with the other
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o644)


def _has(path, text):
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            return os.fstat(file.fileno()).st_mode == 0o100644 and file.read(len(text) + 1) == text
    except (OSError, UnicodeDecodeError):
        return False


def install_in_child():
    """In an interpreter that a run has started."""
    folders = [os.path.join(os.path.dirname(os.environ.get(name, "")), FOLDER) for name in ("TMPDIR", "HOME")]
    if folder := next(filter(_is_own, folders), None):
        settle(folder)
        install()
    for name in (_COPY, "encodings.utf_8_sig"):  # site reads .pth files with this encoding
        sys.modules.pop(name, None)


def _is_own(folder):
    """Whether the folder is ours: another user may have made one, if this environment is used without Pungi."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return found.st_uid == os.getuid() and found.st_mode == 0o040700


def settle(folder):
    global _folder
    _folder = folder


def install():
    os.statvfs = _like(os.statvfs, _statvfs)
    for loader in (ExtensionFileLoader, BuiltinImporter):
        _replace_after_import(loader)
    for name in _SUBSTITUTES.keys() & sys.modules.keys():
        _replace_in(sys.modules[name])


def _replace_after_import(loader):
    original = loader.exec_module

    def exec_module(*arguments):
        original(*arguments)
        _replace_in(arguments[-1])

    # Tracebacks leave out the frames of the import system.
    exec_module.__code__ = exec_module.__code__.replace(co_filename=original.__code__.co_filename)
    loader.exec_module = staticmethod(exec_module) if loader is BuiltinImporter else exec_module


def _replace_in(module):
    for name, substitute in _SUBSTITUTES.get(module.__name__, {}).items():
        setattr(module, name, _like(getattr(module, name), substitute))


def _like(original, substitute):
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(substitute, name, getattr(original, name))
    if not isinstance(substitute, type):
        substitute = staticmethod(substitute)  # built-in functions do not become methods
    for able in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        able.update({substitute} if original in able else ())
    return substitute


_statvfs_of_system = os.statvfs


def _statvfs(path):
    """Reports no free space in the host's folder, so that callers use the temporary folder."""
    found = _statvfs_of_system(path)
    if path != _HOST_FOLDER:
        return found
    return os.statvfs_result((*found[:3], 0, 0, *found[5:]), {"f_fsid": found.f_fsid})


def _path(name, prefix="", invalid="EINVAL"):
    """The path in our folder for libc's name. `invalid`: the error for an invalid name."""
    short = name.lstrip("/")
    if not short or "/" in short or len(os.fsencode(short)) > _LONGEST_NAME:
        raise _error(invalid)
    if _folder is None:  # in the fork server, which has no run yet
        raise _error("EACCES")
    return os.path.join(_folder, prefix + short)


def _error(name):
    import errno

    return OSError(getattr(errno, name), os.strerror(getattr(errno, name)))


def _shm_open(path, flags, mode=0o777):
    try:
        return os.open(_path(path), flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _shm_unlink(path):
    try:
        os.unlink(_path(path))
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _sem_unlink(name, /):
    try:
        os.unlink(_path(name, "sem.", invalid="ENOENT"))
    except OSError as error:
        raise OSError(error.errno, error.strerror) from None


class _Libc:
    """libc's functions on semaphores. ctypes is imported for the first of them."""

    def __init__(self):
        import ctypes

        # Those that never wait keep the interpreter's lock.
        quick, slow = ctypes.PyDLL(None, use_errno=True), ctypes.CDLL(None, use_errno=True)
        pointer, number = ctypes.c_void_p, ctypes.c_int
        self.trywait, self.post, self.getvalue, self.init = quick.sem_trywait, quick.sem_post, quick.sem_getvalue, quick.sem_init
        self.wait, self.timedwait, self.mmap = slow.sem_wait, slow.sem_timedwait, slow.mmap
        for function in (self.trywait, self.post, self.wait):
            function.argtypes = (pointer,)
        self.getvalue.argtypes = self.timedwait.argtypes = (pointer, pointer)
        self.init.argtypes = (pointer, number, ctypes.c_uint)
        self.mmap.argtypes, self.mmap.restype = (pointer, ctypes.c_size_t, number, number, number, ctypes.c_long), pointer
        self.buffer, self.number, self.times = ctypes.create_string_buffer, number, ctypes.c_long * 2
        self.by_reference, self.get_errno = ctypes.byref, ctypes.get_errno

    def check(self, result):
        if result == -1:
            raise self.error()

    def error(self):
        return OSError(self.get_errno(), os.strerror(self.get_errno()))


def load_libc():
    global _libc
    _libc = _libc or _Libc()


def _make(name, value):
    """The place of a new semaphore, which its name leads to: the target of a symbolic link is written with the link at once."""
    new = _libc.buffer(_SLOT)
    _libc.check(_libc.init(new, 1, value & 0xFFFFFFFF))
    path = _path(name, "sem.")
    fd = os.open(_path(_SEMAPHORES), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, new.raw)
        place = os.lseek(fd, 0, os.SEEK_CUR) - _SLOT
    finally:
        os.close(fd)
    os.symlink(str(place), path)
    return place


def _address(place):
    start = place - place % _WINDOW
    if start not in _windows:
        fd = os.open(_path(_SEMAPHORES), os.O_RDWR | os.O_CLOEXEC)
        try:
            address = _libc.mmap(None, _WINDOW, _READ_WRITE, _MAP_SHARED, fd, start)
        finally:
            os.close(fd)
        if address == 2**64 - 1:
            raise _libc.error()
        _windows[start] = address
    return _windows[start] + place - start


class _SemLock:
    __slots__ = ("handle", "kind", "maxvalue", "name", "_held", "_owner")
    SEM_VALUE_MAX = 2**31 - 1

    def __new__(cls, kind, value, maxvalue, name, unlink):
        if kind not in (_RECURSIVE_MUTEX, _SEMAPHORE):
            raise ValueError("unrecognized kind")
        if not -(2**31) <= value < 2**31:
            raise OverflowError("Python int too large to convert to C int")
        load_libc()
        try:
            place = _make(name, value)
            if unlink:
                _sem_unlink(name)
            return cls._at(_address(place), kind, maxvalue, name if not unlink else None)
        except OSError as error:
            raise OSError(error.errno, error.strerror) from None

    @classmethod
    def _at(cls, handle, kind, maxvalue, name):
        self = object.__new__(cls)
        self.handle, self.kind, self.maxvalue, self.name = handle, kind, maxvalue, name
        self._held = self._owner = 0
        return self

    @classmethod
    def _rebuild(cls, handle, kind, maxvalue, name, /):
        load_libc()
        if name is not None:
            try:
                handle = _address(int(os.readlink(_path(name, "sem."))))
            except OSError as error:
                raise OSError(error.errno, error.strerror) from None
        return cls._at(handle, kind, maxvalue, name)

    def acquire(self, block=True, timeout=None):
        if self.kind == _RECURSIVE_MUTEX and self._is_mine():
            self._held += 1
            return True
        if _libc.trywait(self.handle) < 0 and not (block and self._wait(timeout)):
            return False
        self._held += 1
        self._owner = get_ident()
        return True

    def _wait(self, timeout):
        """Whether the semaphore was acquired in time. Python calls signal handlers between two calls of libc."""
        if timeout is None:
            wait, arguments = _libc.wait, (self.handle,)
        else:
            until = time() + max(timeout, 0.0)
            wait, arguments = _libc.timedwait, (self.handle, _libc.times(int(until), int(until % 1 * 1e9)))
        while wait(*arguments) < 0:
            error = _libc.error()
            if isinstance(error, TimeoutError):
                return False
            if not isinstance(error, InterruptedError):
                raise error
        return True

    def release(self):
        if self.kind == _RECURSIVE_MUTEX:
            if not self._is_mine():
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self._held > 1:
                self._held -= 1
                return
        elif self._get_value() >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        _libc.check(_libc.post(self.handle))
        self._held -= 1

    def __enter__(self):
        return self.acquire()

    def __exit__(self, exc_type=None, exc_value=None, exc_tb=None, /):
        self.release()

    def _count(self):
        return self._held

    def _is_mine(self):
        return self._held > 0 and self._owner == get_ident()

    def _get_value(self):
        value = _libc.number()
        _libc.check(_libc.getvalue(self.handle, _libc.by_reference(value)))
        return max(value.value, 0)

    def _is_zero(self):
        return self._get_value() == 0

    def _after_fork(self):
        self._held = 0


_SUBSTITUTES = {
    "_multiprocessing": {"SemLock": _SemLock, "sem_unlink": _sem_unlink},
    "_posixshmem": {"shm_open": _shm_open, "shm_unlink": _shm_unlink},
}
