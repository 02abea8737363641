"""Originals of what is shown smaller than it is, or not at all: large pictures and pages, and frames with all of their rows. They are files
in the temporary folder of a run; the supervisor sends them with the files that the run leaves (artifacts.py)."""

import io
import math
import os
import time

FOLDER = ".shown"
ENDINGS = {
    "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif", "image/svg+xml": "svg", "application/pdf": "pdf",
    "text/csv": "csv", "text/html": "html", "application/vnd.plotly.v1+json": "json",
}
_MOST, _MOST_ENTRIES = 100, 5000
# Nobody has asked for them: they take no more than this of the time of a run, and this share of the disk that is free.
_SECONDS, _SHARE = 3, 2
# Kept from before foreign code could replace them.
_now = time.monotonic


class Originals:
    """Those of one job."""

    def __init__(self, folders=("",), room=0, disk=0):
        """`folders`: those of the run, the temporary one last. `disk`: the bytes that all of its files may have."""
        self._folders, self._folder = folders, os.path.join(folders[-1], FOLDER)
        self._room, self._disk = room, disk
        self._count = 0
        self._written = []

    @property
    def room(self):
        """How many bytes they may still have together."""
        return self._room

    def reserve(self, media):
        """The name of a new one; None if there is no room."""
        if self._room <= 0 or self._count >= _MOST or media not in ENDINGS:
            return None
        self._count += 1
        return f"{self._count}.{ENDINGS[media]}"

    def write(self, name, write):
        """`write` gets a file. Returns whether it could be written; else nothing of it is left."""
        path, making = os.path.join(self._folder, name), os.path.join(self._folder, f".{name}")
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            with _BoundedFile(making, min(self._room, self._free() / _SHARE)) as target:
                write(target)
            os.rename(making, path)
        except BaseException as error:
            _remove(making)
            if not isinstance(error, Exception):
                raise
            return False
        self._room -= target.size
        self._written.append(path)
        return True

    def _free(self):
        """By the limit of the run as well: in some tiers its disk is that of the machine."""
        return min(self._disk - _used(self._folders), _free_on_disk(self._folder))

    def clear(self):
        for path in self._written:
            _remove(path)
        self._written = []


class _BoundedFile(io.RawIOBase):
    """Raises ValueError beyond its size and time. It has no `fileno`, by which packages would write past it."""

    def __init__(self, path, room):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        self._room, self._until = room, _now() + _SECONDS
        self.size = 0

    def writable(self):
        return True

    def write(self, data):
        data = memoryview(data).cast("B")
        self.size += len(data)
        if self.size > self._room or _now() > self._until:
            raise ValueError("too large")
        length = len(data)
        while data:
            data = data[os.write(self._fd, data):]
        return length

    def close(self):
        if not self.closed:
            os.close(self._fd)
        super().close()


def _used(folders):
    """Bytes of the files; infinite if there are too many to be counted. Other disks may be mounted below."""
    used = entries = 0
    for root in folders:
        for folder, inner, names in os.walk(root):
            if os.lstat(folder).st_dev != os.lstat(root).st_dev:
                inner.clear()
                continue
            entries += len(names) + len(inner) + 1
            if entries > _MOST_ENTRIES:
                return math.inf
            used += sum(map(_size, (os.path.join(folder, name) for name in names)))
    return used


def _size(path):
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _free_on_disk(folder):
    if not hasattr(os, "statvfs"):
        return 1 << 30
    use = os.statvfs(folder)
    return use.f_bavail * use.f_frsize


def _remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass
