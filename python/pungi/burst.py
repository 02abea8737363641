"""Many lines at once: while a run prints them, its stdout writes whole blocks, as plain Python does on a pipe.

Otherwise it writes line by line (streams.py), with a system call each. When many lines arrive, the supervisor signals the worker,
whose handler swaps two flags of the stream (stdout_parts.py). As soon as no more arrive, it signals again, and reads what waits in
the stream's buffer from the worker's memory. So text arrives, and is there when the run is killed, even if the worker is in
native code and handles no signal.
"""

import os
import sys
import time

from . import stdout_parts
from .stdout_parts import BLOCKS, LINES, SIGNAL, WORD

# In one read, which is about a millisecond of output.
_MANY_LINES = 32
_QUIET_MS, _LOOK_EVERY_MS = 2, 10


class Burst:
    """In the supervisor: of one worker."""

    def __init__(self, worker, stdout, tell):
        """`stdout`: the end that we read. `tell`: sends the worker a signal."""
        # Whether there is anything to look for.
        self.is_active = False
        self._tell = tell
        self._pipe = os.fstat(stdout)
        self._descriptor = f"/proc/{worker}/fd/1"
        self._lasts_until = self._look_at = 0.0
        # The flags at the time of a signal that has not been handled yet.
        self._asked_at = None
        # What came through the pipe last; what waits in the buffer and was passed on already.
        self._taken = self._shown = b""
        try:
            self._memory = None if stdout_parts.parts is None else os.open(f"/proc/{worker}/mem", os.O_RDONLY)
        except OSError:
            self._memory = None

    def patience_ms(self, otherwise):
        if not self.is_active:
            return otherwise
        longest = _QUIET_MS if self._asked_at is None else _LOOK_EVERY_MS
        return longest if otherwise is None else min(longest, otherwise)

    def take(self, data):
        """`data`: what has come through the pipe. Gives what of it has not been passed on."""
        self._taken = data
        if self._memory is not None and data.count(b"\n") >= _MANY_LINES:
            self._lasts_until = time.monotonic() + _QUIET_MS / 1000
            self._switch_from(LINES)
        if self._shown:
            # First, or behind lines of other processes.
            before, shown, after = (b"\n" + data).partition(b"\n" + self._shown)
            if shown:
                self._shown = b""
                return (before + b"\n" + after)[1:]
        return data

    def look(self, relay):
        """At times gives what waits in the buffer. `relay`: passes on what is in the pipe."""
        now = time.monotonic()
        if now < min(self._lasts_until, self._look_at):
            return b""
        self._look_at = now + _LOOK_EVERY_MS / 1000
        if now >= self._lasts_until:
            self._switch_from(BLOCKS)
        return self.waiting(relay)

    def _switch_from(self, mode):
        """One signal at a time: a worker that does not handle it is not signalled again."""
        flags = self._read(stdout_parts.parts.flags, 2)
        if flags != self._asked_at:
            self._asked_at = None
            if flags == mode:
                self._asked_at = flags
                self._tell(SIGNAL)
        self.is_active = flags == BLOCKS or self._asked_at is not None

    def waiting(self, relay):
        """What waits in the buffer and was not passed on."""
        text = self._read_buffer()
        self._taken = b""
        relay()
        if text is None or (text and text in self._taken):
            return b""  # in use, or written meanwhile
        shown = self._shown if text.startswith(self._shown) else b""
        self._shown = text
        return text[len(shown) :]

    def _read_buffer(self):
        """None where it changes, or where it will be written to something else than our pipe.

        Without an owner it is not being written at this moment. If it is afterwards, that will be found in the pipe."""
        try:
            is_ours = os.path.samestat(os.stat(self._descriptor), self._pipe)
        except OSError:
            return None
        is_idle = self._read(stdout_parts.parts.owner, WORD) == bytes(WORD)
        text = self._read_text()
        return text if is_ours and is_idle and text == self._read_text() else None

    def _read_text(self):
        size = int.from_bytes(self._read(stdout_parts.parts.waiting, WORD), sys.byteorder, signed=True)
        return self._read(stdout_parts.parts.buffer, size) if 0 < size <= stdout_parts.parts.size else b""

    def _read(self, address, size):
        """Empty where the worker has ended or become another program."""
        try:
            return os.pread(self._memory, size, address)
        except OSError:
            return b""

    def close(self):
        if self._memory is not None:
            os.close(self._memory)
