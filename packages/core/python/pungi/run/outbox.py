"""Bytes on their way to a reader that may not read for a while: they wait here, and the sender never does."""

import os
import select

_CHUNK = 65536
# With more unread bytes than this, the producer should stop.
_MOST_WAITING = 256 * 1024


class Outbox:
    """The outbox of one descriptor, which must not block."""

    def __init__(self, fd):
        self._fd = fd
        self._waiting = bytearray()

    def __bool__(self):
        return bool(self._waiting)

    @property
    def is_large(self):
        """Whether to send now instead of waiting for more."""
        return len(self._waiting) > _CHUNK

    @property
    def is_full(self):
        return len(self._waiting) > _MOST_WAITING

    def add(self, data):
        self._waiting += data

    def send(self):
        """Writes as much as the other end takes now; True if nothing is left. Raises OSError if the other end is gone."""
        while self._waiting:
            try:
                sent = os.write(self._fd, self._waiting) if len(self._waiting) <= _CHUNK else self._send_chunk()
            except BlockingIOError:
                return False
            del self._waiting[:sent]
        return True

    def _send_chunk(self):
        with memoryview(self._waiting) as view:
            return os.write(self._fd, view[:_CHUNK])

    def send_all(self):
        """Waits until the other end has taken everything. For use when there is nothing else to do."""
        if self.send():
            return
        poller = select.poll()
        poller.register(self._fd, select.POLLOUT)
        while not self.send():
            poller.poll()
