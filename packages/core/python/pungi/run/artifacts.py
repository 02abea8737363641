"""The files that a run leaves in its work folder, read by the supervisor when nothing of the run is active any more.

Names and contents are foreign: only regular files are read, no link is followed, and every count and size is bounded.
"""

import hashlib
import json
import os
import stat

# Entries that are looked at, folders within folders, and files that are sent.
_MOST_ENTRIES, _MOST_DEPTH, _MOST_FILES = 5000, 16, 200
_LONGEST_PATH = 1000
_CHUNK = 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Made by the interpreter, not by the script.
_SKIPPED = {"__pycache__"}


class Artifacts:
    """Those of one worker: in a session, a file counts again when it has changed."""

    def __init__(self, work):
        self._work = work
        self._sent = {}

    def collect(self, limits):
        """Yields payloads: a header as JSON, a newline, and a piece of the file; at last what was left out, if anything."""
        left, inputs = limits.get("artifactBytes", 0), limits.get("inputs", {})
        if left <= 0:
            return
        self._entries = self._left_out = 0
        count = 0
        for path, folder, name in self._files():
            try:
                fd = os.open(name, _FLAGS, dir_fd=folder)
            except OSError:
                continue
            try:
                about = os.fstat(fd)
                if not stat.S_ISREG(about.st_mode) or self._is_known(path, fd, about, inputs):
                    continue
                if about.st_size > left or count >= _MOST_FILES:
                    self._left_out += 1
                    continue
                left, count = left - about.st_size, count + 1
                self._sent[path] = _version(about)
                yield from _pieces(path, fd, about.st_size)
            finally:
                os.close(fd)
        if self._left_out:
            yield json.dumps({"leftOut": self._left_out}).encode() + b"\n"

    def _is_known(self, path, fd, about, inputs):
        """Whether it is as the run got it, or as it was sent before."""
        if self._sent.get(path) == _version(about):
            return True
        if path not in inputs or inputs[path] is not None and inputs[path][0] != about.st_size:
            return False
        if inputs[path] is None or _sha256(fd) == inputs[path][1]:
            self._sent[path] = _version(about)
            return True
        return False

    def _files(self):
        """Yields the path of each file, an open folder, and the name in it."""
        root = os.open(self._work, _FLAGS | os.O_DIRECTORY)
        try:
            yield from self._within(root, "", 0)
        finally:
            os.close(root)

    def _within(self, folder, prefix, depth):
        inner = []
        with os.scandir(folder) as entries:
            for entry in entries:
                self._entries += 1
                if self._entries > _MOST_ENTRIES:
                    self._left_out += 1
                    return
                path = prefix + entry.name
                if entry.name.startswith(".") or entry.name in _SKIPPED or not _is_plain(path):
                    continue
                if entry.is_file(follow_symlinks=False):
                    yield path, folder, entry.name
                elif entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
        if depth >= _MOST_DEPTH:
            self._left_out += len(inner)
            return
        for name in inner:
            try:
                below = os.open(name, _FLAGS | os.O_DIRECTORY, dir_fd=folder)
            except OSError:
                continue
            try:
                yield from self._within(below, f"{prefix}{name}/", depth + 1)
            finally:
                os.close(below)


def _is_plain(path):
    try:
        return len(path.encode()) <= _LONGEST_PATH and "\\" not in path
    except UnicodeEncodeError:
        return False  # not a text


def _version(about):
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _sha256(fd):
    digest = hashlib.sha256()
    while piece := os.read(fd, _CHUNK):
        digest.update(piece)
    os.lseek(fd, 0, os.SEEK_SET)
    return digest.hexdigest()


def _pieces(path, fd, size):
    """Never more than `size`: nothing writes to it any more."""
    header = json.dumps({"path": path, "size": size}).encode() + b"\n"
    while True:
        piece = os.read(fd, min(_CHUNK, size))
        size -= len(piece)
        yield header + piece
        if not piece or size <= 0:
            return
