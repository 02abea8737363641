"""Copies of a session's files, for its checkpoints and branches. They are next to the folders of the box, where no run can reach
them, and count against its disk limit.

Names and contents are foreign: no link is followed, and every count and size is bounded. Nothing of the session runs meanwhile.
"""

import contextlib
import errno
import os
import stat

from .emptying import empty_folder

_PLACE = ".copies"
_MOST_DEPTH = 64
_CHUNK = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def make(box, name):
    """Makes an empty copy, unless there is one."""
    with _opened_root(box) as root:
        folders = [os.path.join(_PLACE, name, str(number)) for number in range(len(box.folders))]
        try:
            os.stat(folders[-1], dir_fd=root, follow_symlinks=False)
        except FileNotFoundError:
            for folder in folders:
                _make_folders(box, root, folder)


def copy_out(box, name, limit_mb):
    """Copies the files of the box. OSError: they do not fit, or cannot be read; then there is no copy."""
    room = _Room(*box.room(limit_mb))
    try:
        for inside, outside in _pairs(box, name, makes=True):
            _copy_folder(inside, outside, room)
    except BaseException:
        remove(box, name)
        raise


def copy_in(box, name):
    """Replaces the files of the box by those of the copy, which stays."""
    clear(box)
    for inside, outside in _pairs(box, name):
        _copy_folder(outside, inside, _Room(float("inf"), float("inf")))


def move_out(box, name):
    for inside, outside in _pairs(box, name, makes=True):
        _move_all(inside, outside)


def move_in(box, name):
    """Replaces the files of the box by those of the copy, which is then empty."""
    clear(box)
    for inside, outside in _pairs(box, name):
        _move_all(outside, inside)


def clear(box):
    with _opened_root(box) as root:
        for folder in box.folders:
            empty_folder(folder, root)


def remove(box, name):
    with contextlib.suppress(FileNotFoundError), _opened_root(box) as root:
        place = os.open(_PLACE, _FOLDER, dir_fd=root)
        try:
            empty_folder(name, place)
            os.rmdir(name, dir_fd=place)
        finally:
            os.close(place)


def remove_all(box):
    box.has_copies = False
    with contextlib.suppress(FileNotFoundError), _opened_root(box) as root:
        empty_folder(_PLACE, root)
        os.rmdir(_PLACE, dir_fd=root)


class _Room:
    """What a copy may take."""

    def __init__(self, size, entries):
        self._size, self._entries = size, entries

    def take(self, about):
        self._size -= about.st_blocks * 512
        self._entries -= 1
        if self._size < 0 or self._entries < 0:
            raise OSError(errno.ENOSPC, "the disk limit leaves no room for a copy of its files")


@contextlib.contextmanager
def _opened_root(box):
    root = box.open_root()
    try:
        yield root
    finally:
        os.close(root)


def _pairs(box, name, makes=False):
    """Each folder of the box and its place in the copy, opened."""
    with _opened_root(box) as root:
        for number, folder in enumerate(box.folders):
            outside = os.path.join(_PLACE, name, str(number))
            if makes:
                _make_folders(box, root, outside)
            opened = [os.open(path, _FOLDER, dir_fd=root) for path in (folder, outside)]
            try:
                yield opened
            finally:
                for fd in opened:
                    os.close(fd)


def _make_folders(box, root, path):
    box.has_copies = True
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        with contextlib.suppress(FileExistsError):
            os.mkdir("/".join(parts[:count]), 0o700, dir_fd=root)


def _move_all(source, target):
    for name in os.listdir(source):
        os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)


def _copy_folder(source, target, room, depth=0):
    if depth > _MOST_DEPTH:
        raise OSError(errno.ENAMETOOLONG, f"its folders are nested more than {_MOST_DEPTH} deep")
    for name in os.listdir(source):
        about = os.stat(name, dir_fd=source, follow_symlinks=False)
        room.take(about)
        if stat.S_ISLNK(about.st_mode):
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
        elif stat.S_ISREG(about.st_mode):
            _copy_file(name, source, target, about)
        elif stat.S_ISDIR(about.st_mode):
            _copy_inner(name, source, target, about, room, depth)
        # Sockets and pipes without a process that has opened them are of no use to anybody.


def _copy_inner(name, source, target, about, room, depth):
    os.mkdir(name, 0o700, dir_fd=target)
    opened = []
    try:
        opened += [os.open(name, _FOLDER, dir_fd=parent) for parent in (source, target)]
        _copy_folder(*opened, room, depth + 1)
        _copy_attributes(opened[1], about)
    finally:
        for fd in opened:
            os.close(fd)


def _copy_file(name, source, target, about):
    """Holes stay holes: a large file may be small on disk. Most files are small and have none."""
    original = os.open(name, _READ, dir_fd=source)
    try:
        copy = os.open(name, _WRITE, stat.S_IMODE(about.st_mode) & 0o777, dir_fd=target)
        try:
            is_plain = about.st_size <= min(_CHUNK, about.st_blocks * 512)
            if not is_plain:
                os.ftruncate(copy, about.st_size)
            for start, end in [(0, about.st_size)] if is_plain else _extents(original):
                while start < end:
                    start += os.pwrite(copy, os.pread(original, min(_CHUNK, end - start), start) or b"\0", start)
            _copy_attributes(copy, about)
        finally:
            os.close(copy)
    finally:
        os.close(original)


def _extents(fd):
    end = 0
    while True:
        try:
            start = os.lseek(fd, end, os.SEEK_DATA)
            end = os.lseek(fd, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        yield start, end


def _copy_attributes(fd, about):
    """The supervisors of the landlock tier may change neither: there a file is as new as its copy, and open to its owner."""
    with contextlib.suppress(OSError):
        os.fchmod(fd, stat.S_IMODE(about.st_mode) & 0o777)
    with contextlib.suppress(OSError):
        os.utime(fd, ns=(about.st_atime_ns, about.st_mtime_ns))
