"""Counts the displays that a supervisor passes on: foreign code can send any number of them, of any size."""

# A worker sends fewer and smaller ones (displays.py), except for a last one with the number of those that it left out.
LARGEST = 2 * 1024 * 1024 + 64 * 1024
_MOST, _MOST_BYTES = 1010, 17 * 1024 * 1024
# Dropped frames cost the supervisor more than the run.
_MOST_DROPPED, _MOST_BYTES_AT_ALL = 64, 20 * 1024 * 1024


class DisplayGate:
    def __init__(self):
        self._taken = self._bytes = self.dropped = 0

    def admits(self, payload):
        """Raises ValueError for a run that goes on sending what is dropped."""
        self._taken += 1
        self._bytes += len(payload)
        if self._taken <= _MOST and self._bytes <= _MOST_BYTES:
            return True
        self.dropped += 1
        if self.dropped > _MOST_DROPPED or self._bytes > _MOST_BYTES_AT_ALL:
            raise ValueError("too many displays")
        return False

    def report(self):
        """In the form of displays.py."""
        return b'{"leftOut": %d}' % self.dropped
