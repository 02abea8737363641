"""A lock that many share or one has, across processes, in the order of asking.

NAME.room is the lock itself: an flock, shared or exclusive, on an open file for each hold.
NAME.turn is the line in front of it. Whoever cannot enter at once draws a number and holds, by fcntl, the byte of that
number for as long as it waits. Whose turn it is: whoever finds no byte held below its own. Whoever comes while a byte is
held goes to the end of the line, so a stream of readers does not pass a writer by, nor the other way round.

flock alone would not do: it gives a lock to whoever asks first after the release, which is hardly ever the one that waits.
The kernel lets go of bytes and files alike when a process dies, so that nobody waits for the dead. Nothing blocks here:
every call answers at once and is repeated. Neither file is ever deleted: a lock on a file without a name protects nothing.
"""

import errno
import fcntl
import os
import time

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_DRAWING = 0  # The byte that is held while a number is drawn. Numbers start at 1.
_DIGITS = 18
_ATTEMPTS, _BREATH = 10, 0.0001


class FairLock:
    """One lock as one process sees it. Locks of fcntl are the process's: there may be only one object a lock."""

    def __init__(self, path):
        self._path = path
        self._turn, self._may_draw = _open(f"{path}.turn")
        self._drawn = set()

    def enter(self, exclusive, number=None):
        """The open file that holds the lock, or None where others are in it or have their turn before."""
        if exclusive and not self._may_draw:
            raise OSError(errno.EROFS, "Only a shared lock can be had where writing is not allowed", self._path)
        if number is None and self._drawn:
            return None
        if not self._is_free(1, self._last_number() if number is None else number - 1):
            return None
        room, _ = _open(f"{self._path}.room")
        try:
            fcntl.flock(room, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(room)
            return None
        except BaseException:
            os.close(room)
            raise
        if number is not None:
            self.leave(number)
        return room

    def draw(self):
        """A place at the end of the line; None where another process is just drawing. Repeat it then."""
        if not self._may_draw:
            # Waits for those who came before, like everyone, but those who come later cannot see it wait.
            return self._last_number() + 1
        if not self._begin_drawing():
            return None
        try:
            number = self._last_number() + 1
            os.pwrite(self._turn, b"%0*d" % (_DIGITS, number), 0)
            # It can be held already only if the file was tampered with; the next one will be free.
            if not self._hold(fcntl.LOCK_EX, number):
                return None
            self._drawn.add(number)
            return number
        finally:
            fcntl.lockf(self._turn, fcntl.LOCK_UN, 1, _DRAWING)

    def leave(self, number):
        self._drawn.discard(number)
        fcntl.lockf(self._turn, fcntl.LOCK_UN, 1, number)

    def close(self):
        """Gives up every place in the line. Holds stay."""
        os.close(self._turn)

    def _begin_drawing(self):
        """Others draw for microseconds. Who came back much later would stand behind those who came after it."""
        for _ in range(_ATTEMPTS):
            if self._hold(fcntl.LOCK_EX, _DRAWING):
                return True
            time.sleep(_BREATH)
        return False

    def _last_number(self):
        text = os.pread(self._turn, _DIGITS, 0)
        return int(text) if text.isdigit() else 0

    def _is_free(self, start, end):
        """Whether no other process holds a number from start to end. Our own must not be among them: they would be lost."""
        if end < start:
            return True
        if not self._hold(fcntl.LOCK_SH, start, end - start + 1):
            return False
        # Numbers up to the last one are never drawn again, so holding them for a moment is in nobody's way.
        fcntl.lockf(self._turn, fcntl.LOCK_UN, end - start + 1, start)
        return True

    def _hold(self, kind, start, length=1):
        try:
            fcntl.lockf(self._turn, kind | fcntl.LOCK_NB, length, start)
            return True
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise


def _open(path):
    """The file, and whether it can be written to. One that only others may write can still be locked for reading."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o644), True
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
    return os.open(path, os.O_RDONLY | _FLAGS), False
