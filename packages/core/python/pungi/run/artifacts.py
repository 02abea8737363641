"""The files that a run leaves in its work folder, read by the supervisor when nothing of the run is active any more.

Names and contents are foreign: only regular files are read, no link is followed, and every count and size is bounded.
"""

import contextlib
import json
import os
import re
import stat

from . import originals

# Entries that are looked at, folders within folders, and files that are sent.
_MOST_ENTRIES, _MOST_DEPTH, _MOST_FILES = 5000, 16, 200
_LONGEST_PATH = 1000
_CHUNK = 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Made by the interpreter, not by the script.
_SKIPPED = {"__pycache__"}
# The scripts of the later jobs of a session (session.py): there may be thousands of them.
_LATER_SCRIPT = re.compile(r"_\d+(\.[^.]*)?$", re.ASCII)
_ORIGINAL = re.compile(r"\d{1,3}\.[a-z]{1,4}", re.ASCII)


class Artifacts:
    """Those of one worker: in a session, a file counts again when it has changed."""

    def __init__(self, work, temporary):
        """The paths of both folders are ours: no run can put a link in their place."""
        self._work, self._originals = work, f"{temporary}/{originals.FOLDER}"
        self._sent = {}
        self._scripts, self._later_scripts = set(), set()

    def collect(self, limits, has_originals=True):
        """Yields payloads: a header as JSON, a newline, and a piece of the file; at last what was left out, if anything."""
        self._room, self._is_kept = limits.get("artifactBytes", 0), limits.get("isKept")
        if self._room <= 0:
            return
        self._entries = self._left_out = self._count = 0
        inputs = limits.get("inputs", {})
        self._later_scripts.update(path for path, given in inputs.items() if given is None and _LATER_SCRIPT.search(path))
        yield from self._collect(self._within(None, f"{self._work}/", "", 0, inputs), "path", inputs)
        if has_originals:
            yield from self._collect(self._original_files(), "original", {})
        if self._left_out:
            yield json.dumps({"leftOut": self._left_out}).encode() + b"\n"

    def _collect(self, files, kind, inputs):
        """`kind`: "path" for files of the script, "original" for those of displays.py."""
        for path, folder, place in files:
            try:
                fd = os.open(place, _FLAGS, dir_fd=folder)
            except OSError:
                continue
            try:
                about = os.fstat(fd)
                if not stat.S_ISREG(about.st_mode) or self._is_known((kind, path), fd, about, inputs):
                    continue
                if about.st_size > self._room or self._count >= _MOST_FILES:
                    self._left_out += 1
                    continue
                self._room, self._count = self._room - about.st_size, self._count + 1
                self._sent[kind, path] = _version(about)
                yield from _pieces({kind: path, "size": about.st_size}, fd)
            finally:
                os.close(fd)

    def set_aside(self):
        """What is known of the files of a session that are copied or moved away."""
        return set(self._sent), set(self._scripts), set(self._later_scripts)

    def take_up(self, known, is_copy):
        """They are back, under other numbers. Those of a copy are sent again, since its session has changed them since, or is
        another one; but scripts are sent to nobody, and originals with their displays alone."""
        sent, self._scripts, self._later_scripts = map(set, known)
        self._sent = {}
        for kind, path in sent:
            if is_copy and kind == "path" and (kind, path) not in self._scripts:
                continue
            folder = self._work if kind == "path" else self._originals
            with contextlib.suppress(OSError):
                self._sent[kind, path] = _version(os.stat(os.path.join(folder, path), follow_symlinks=False))

    def _is_known(self, key, fd, about, inputs):
        """Whether it is as the run got it, or as it was sent before."""
        path = key[1]
        if self._sent.get(key) == _version(about):
            return True
        if path not in inputs or inputs[path][0] != about.st_size:
            return False
        if _sha256(fd) == inputs[path][1]:
            self._sent[key] = _version(about)
            return True
        return False

    def _original_files(self):
        """The folder is as foreign as its files: the script may have made it."""
        try:
            folder = os.open(self._originals, _FLAGS | os.O_DIRECTORY)
        except OSError:
            return  # there are none
        try:
            with os.scandir(folder) as entries:
                for _, entry in zip(range(_MOST_ENTRIES), entries):
                    if _ORIGINAL.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                        yield entry.name, folder, entry.name
        finally:
            os.close(folder)

    def _within(self, folder, before, prefix, depth, inputs):
        """Yields the path of each file, and where it is opened: an open folder, and the place in it. Without a folder, `before` is the path
        of one."""
        inner, scripts = [], set()
        with os.scandir(before if folder is None else folder) as entries:
            for entry in entries:
                if depth == 0 and entry.name in self._later_scripts:
                    scripts.add(entry.name)
                    continue  # whatever the session has made of it
                self._entries += 1
                if self._entries > _MOST_ENTRIES:
                    self._left_out += 1
                    return
                path = prefix + entry.name
                if entry.name.startswith(".") or entry.name in _SKIPPED or not _is_plain(path):
                    continue
                if entry.is_file(follow_symlinks=False):
                    if inputs.get(path, 0) is None:
                        self._note_script(path, entry)
                    # In a session most files are as they were: one look at each, and none is opened.
                    elif ("path", path) not in self._sent or self._sent["path", path] != _version_of(entry):
                        yield path, folder, before + entry.name
                elif entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
        if depth == 0:
            self._later_scripts = scripts  # the oldest are removed
        if depth >= _MOST_DEPTH:
            self._left_out += len(inner)
            return
        for name in inner:
            try:
                below = os.open(before + name, _FLAGS | os.O_DIRECTORY, dir_fd=folder)
            except OSError:
                continue
            try:
                yield from self._within(below, "", f"{prefix}{name}/", depth + 1, inputs)
            finally:
                os.close(below)

    def _note_script(self, path, entry):
        """The script is sent to nobody. In a session it stays, and is no input of the next job."""
        if self._is_kept:
            self._sent["path", path] = _version_of(entry)
            self._scripts.add(("path", path))


def _is_plain(path):
    try:
        return len(path.encode()) <= _LONGEST_PATH and "\\" not in path
    except UnicodeEncodeError:
        return False  # not a text


def _version_of(entry):
    try:
        return _version(entry.stat(follow_symlinks=False))
    except OSError:
        return None  # it is gone


def _version(about):
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _sha256(fd):
    import hashlib  # loads OpenSSL, which few runs need

    digest = hashlib.sha256()
    while piece := os.read(fd, _CHUNK):
        digest.update(piece)
    os.lseek(fd, 0, os.SEEK_SET)
    return digest.hexdigest()


def _pieces(about, fd):
    """Never more than its size: nothing writes to it any more."""
    header, size = json.dumps(about).encode() + b"\n", about["size"]
    while True:
        piece = os.read(fd, min(_CHUNK, size))
        size -= len(piece)
        yield header + piece
        if not piece or size <= 0:
            return
