"""Files that follow a job in pieces, an empty piece after each: the server sends them, the supervisor passes them on, and the worker
writes them with the rights of the run. So a file of any size takes no more memory than a few pieces.
"""

import os

from . import frames
from .outbox import Outbox

# Kept from before foreign code could replace them.
_write, _read_frame = frames.write_all, frames.read_frame


class Awaited:
    """In the supervisor: the files of a job that have not come yet."""

    def __init__(self, limits):
        self._paths = list(limits.get("sources", ()))
        self._known = limits.get("inputs")
        if self._paths:
            self._begin()

    def __bool__(self):
        return bool(self._paths)

    def _begin(self):
        import hashlib  # loads OpenSSL, which few runs need

        self._size, self._hash = 0, hashlib.sha256()

    def take(self, piece):
        """Notes what a whole file is, so that it does not count as the run's own if it is unchanged at the end."""
        if piece:
            self._size += len(piece)
            if self._known is not None:
                self._hash.update(piece)
            return
        path = self._paths.pop(0)
        if self._known is not None and path is not None:
            self._known[path] = [self._size, self._hash.hexdigest()]
        self._begin()


class LiveStdin:
    """In the supervisor: standard input that comes while the run goes on, an empty piece at its end."""

    def __init__(self, pipe):
        self._waiting, self._has_ended = Outbox(pipe), False

    def take(self, piece):
        self._waiting.add(piece)
        self._has_ended = self._has_ended or not piece

    def send(self):
        """Writes what the run has room for. "full": there is more; "empty": all is written; "ended": nothing more will be."""
        try:
            has_sent = self._waiting.send()
        except OSError:
            return "ended"  # nobody reads it any more
        return "full" if not has_sent else "ended" if self._has_ended else "empty"


def place(paths, work, open_stdin, job_fd):
    """In the worker: writes the files, and standard input for a path that is None.

    After a failure the rest is read as well, because the next job of a session comes behind it."""
    failure = None
    for path in paths:
        target = None
        try:
            target = open_stdin() if path is None else _create(os.path.join(work, path))
        except OSError as error:
            failure = failure or error
        while piece := _next_piece(job_fd):
            try:
                if failure is None:
                    _write(target, piece)
            except OSError as error:
                failure = error
        if target is not None and path is not None:
            os.close(target)
    if failure is not None:
        raise failure


def _create(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o666)


def _next_piece(job_fd):
    while (frame := _read_frame(job_fd)) is not None:
        if frame[0] == frames.INPUT:  # a display of an earlier job may have left its answer
            return frame[1]
    raise EOFError("the supervisor has gone")
