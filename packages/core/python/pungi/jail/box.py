"""The folders that a run may write to: one bounded tmpfs in its own mount namespace, or a folder on disk that is watched and removed."""

import contextlib
import os

from ..limits import watch
from . import box_copies, shared_names, system
from .emptying import empty_folder, remove_tree
from .host_jail import BOX, SHM, TERMINALS, TMP, WORK
from .system import MS_BIND, MS_NODEV, MS_NOSUID, MS_REC

_MB = 1024 * 1024
_ENTRIES_PER_MB = 256
_FOLDERS = (WORK, TMP, SHM)
_TERMINAL_MAKER = f"{TERMINALS}/ptmx"
# A file that is mapped, deleted and closed has a size that cannot be read.
_MOST_DELETED_MAPPINGS = 1


class NamespaceBox:
    """A tmpfs in the supervisor's mount namespace: its size is the kernel's own bound, and nothing of it stays."""

    device = None
    work, temporary, shared = WORK, TMP, SHM
    # Whether copies may be next to its folders (box_copies.py).
    has_copies = False

    def __init__(self, size_mb, covered, data):
        """`covered`: (descriptor, path) of files that must stay visible though they are below one of the folders.

        `data`: name to path of the folders with data that runs find in their work folder.
        """
        self.data = data
        self._size_mb = size_mb
        options = f"size={size_mb}m,nr_inodes={size_mb * _ENTRIES_PER_MB},mode=700"
        system.mount("tmpfs", BOX, "tmpfs", MS_NOSUID | MS_NODEV, options)
        for folder in _FOLDERS:
            inside = BOX + folder
            os.makedirs(inside, 0o700)
            system.mount(inside, folder, flags=MS_BIND)
        self._device = os.stat(BOX).st_dev
        # Only the supervisor has it: next to the folders are the files of checkpoints (box_copies.py).
        self._root = os.open(BOX, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # A reset could not reach files above the folders.
        system.unmount(BOX)
        for fd, path in covered:
            os.makedirs(path, exist_ok=True)
            system.mount(f"/proc/self/fd/{fd}", path, flags=MS_BIND | MS_REC)
        self._is_covering = bool(covered)
        self._terminals = _attributes(_TERMINAL_MAKER)
        # The attributes of each folder when it was emptied. A tmpfs counts the entries of a folder in its size.
        self._emptied = {}

    @property
    def can_be_reset(self):
        # A run could rename the folders above what is covered, and give the next run another interpreter. It owns the file that
        # makes terminals, and could take them from the next run, or send it information by its mode and its times.
        return not self._is_covering and _attributes(_TERMINAL_MAKER) == self._terminals

    def has(self, fd):
        """Whether an open file belongs to the run."""
        return os.fstat(fd).st_dev == self._device

    def owns(self, device, _path):
        """The same for a file that another process has opened or mapped."""
        return device == self._device

    @property
    def can_be_copied(self):
        return not self._is_covering

    def open_root(self):
        """The folder that holds the others, under their names in `folders`."""
        return os.dup(self._root)

    @property
    def folders(self):
        return [folder.lstrip("/") for folder in _FOLDERS]

    def room(self, limit_mb):
        """Bytes and entries that are left."""
        use = os.statvfs(WORK)
        return min(limit_mb, self._size_mb) * _MB - _bytes_in(use), use.f_ffree

    def is_over(self, limit_mb, _pids):
        use = os.statvfs(WORK)
        return use.f_bfree == 0 or use.f_ffree == 0 or self.exceeds(limit_mb)

    def is_full(self, limit_mb, _processes):
        """Whether lack of space can be the reason of a failed run. `_processes`: returns the processes of the run."""
        use = os.statvfs(WORK)
        return use.f_ffree == 0 or _bytes_in(use) >= _almost(min(limit_mb, self._size_mb))

    def may_be_over(self, _limit_mb):
        return False

    def exceeds(self, limit_mb):
        """At a good end: a script that reached the bound and handled it is fine, one that passed a tighter limit unseen is not."""
        return limit_mb < self._size_mb and _bytes_in(os.statvfs(WORK)) > limit_mb * _MB

    def reset(self):
        """Restores the box for the next run. Empties it in place: an unmount would wait for every processor of the machine."""
        for folder in _FOLDERS:
            names = os.listxattr(folder)
            if names or _attributes(folder) != self._emptied.get(folder):
                for name in names:
                    os.removexattr(folder, name)
                os.chmod(folder, 0o700)
                _empty(folder)
                os.utime(folder)
                self._emptied[folder] = _attributes(folder)
        if self.has_copies:
            box_copies.remove_all(self)

    def remove(self):
        """The box goes away with the namespace."""


class FolderBox:
    can_be_reset = can_be_copied = True
    has_copies = False

    def __init__(self, path, data, hides_shm=False):
        """`hides_shm`: runs cannot reach the host's /dev/shm, and have a folder in its place (shared_names.py)."""
        self.root = path
        self.data = data
        self.work, self.temporary = os.path.join(path, "work"), os.path.join(path, "tmp")
        self.shared = os.path.join(path, shared_names.FOLDER) if hides_shm else None
        self._make()
        self.device = os.stat(path).st_dev
        self._free = self._free_now()

    def _make(self):
        for folder in filter(None, (self.root, self.work, self.temporary, self.shared)):
            os.mkdir(folder, 0o700)

    def has(self, fd):
        return self.has_path(os.readlink(f"/proc/self/fd/{fd}"))

    def has_path(self, path):
        """`path`: absolute and without links."""
        return path.startswith(f"{os.path.realpath(self.root)}/")

    def owns(self, _device, path):
        return self.has_path(path)

    def open_root(self):
        return os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    @property
    def folders(self):
        return [os.path.basename(folder) for folder in (self.work, self.temporary, self.shared) if folder is not None]

    def room(self, limit_mb):
        size, entries = watch.folder_usage(self.root, limit_mb * _ENTRIES_PER_MB)
        return limit_mb * _MB - size, limit_mb * _ENTRIES_PER_MB - entries

    def is_over(self, limit_mb, pids):
        """PermissionError: a process does not show what it holds, and what is seen is within the limit."""
        self._free = self._free_now()
        size, entries = watch.folder_usage(self.root, limit_mb * _ENTRIES_PER_MB)
        if size > limit_mb * _MB or entries > limit_mb * _ENTRIES_PER_MB:
            return True
        open_files = watch.deleted_files(pids, self.device)
        return size + sum(open_files.values()) > limit_mb * _MB or self._is_hiding(pids, open_files)

    def _is_hiding(self, pids, open_files):
        hidden = watch.deleted_mappings(pids, self.device) - open_files.keys()
        if len(hidden) > _MOST_DELETED_MAPPINGS:
            # Some were opened after the first look, or were about to be unmapped: those count that are hidden at both looks.
            hidden -= watch.deleted_files(pids, self.device).keys()
            hidden &= watch.deleted_mappings(pids, self.device)
        return len(hidden) > _MOST_DELETED_MAPPINGS

    def is_full(self, limit_mb, processes):
        size, _ = watch.folder_usage(self.root, limit_mb * _ENTRIES_PER_MB)
        with contextlib.suppress(PermissionError):  # what is not seen does not count
            size += sum(watch.deleted_files(processes(), self.device).values())
        return size >= _almost(limit_mb) or self._free_now() < _MB

    def may_be_over(self, limit_mb):
        """Whether so much of the disk is used since the last walk that another one is due."""
        return (self._free - self._free_now()) * 4 > limit_mb * _MB

    def _free_now(self):
        use = os.statvfs(self.root)
        return use.f_bfree * use.f_frsize

    def exceeds(self, limit_mb):
        return self.is_over(limit_mb, ())

    def reset(self):
        self.remove()
        self._make()

    def remove(self):
        remove_tree(self.root)


def _empty(folder):
    """Empties a folder of a tmpfs, which no run can replace by a link. Most runs leave a few files and no folder."""
    try:
        for name in os.listdir(folder):
            os.unlink(f"{folder}/{name}")
    except OSError:
        empty_folder(folder)


def _bytes_in(use):
    return (use.f_blocks - use.f_bfree) * use.f_frsize


def _attributes(path):
    """None if there is no such file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_mode, found.st_size, found.st_nlink, found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns


def _almost(limit_mb):
    """A write that does not fit leaves some space free: less than it needs."""
    return limit_mb * _MB * 9 // 10
