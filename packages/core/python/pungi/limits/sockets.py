"""Counts the sockets of a run in the tables of its network namespace, and the data that waits in them."""

import collections
import functools
import os

_MB = 1024 * 1024
_SOCKET = 212992
_CHUNK = 1 << 14
# A UDP socket with its largest datagrams, each of which lies in two pages that it shares with others.
_DATAGRAM_SOCKET = _MB
# The kernel allows all TCP sockets of the machine a sixteenth of its memory; a run has at most an eighth of that.
_MOST = max(512, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 128 // _SOCKET)
# No program keeps more memory by unread data, in a millisecond of CPU time. Its time in the kernel alone is an estimate, sampled when
# a clock ticks: a run can avoid being there at those moments.
_PINNED_PER_CPU_MS = 8 * _MB
# The most that an ended connection can keep, besides a few that hardly any program forgets to close. Connections that are
# being closed look the same, so only those count that appear in this many samples in a row.
_ENDED_SOCKET, _FEW_ENDED, _LOOKS_AT_ENDED = 48 * _MB, 4, 3


class Sockets:
    """The sockets of our network namespace, each until its last byte is gone: also those without a descriptor."""

    def __init__(self, loopback, before, unix_before):
        """`before`: how many there were before the run; `unix_before`: of the family without a network."""
        self._loopback = loopback
        self._before, self._unix_before = before, unix_before
        self.last_number = 0
        self._ended = collections.deque([0] * _LOOKS_AT_ENDED, _LOOKS_AT_ENDED)

    @property
    def is_suspicious(self):
        """Whether the next sample should come soon."""
        return self._ended[-1] > 0

    def excess(self, memory, cpu_ms):
        """Returns the bytes and the kind of what is over the memory limit, or over a run's part of the machine's; None if nothing is."""
        number = self.last_number = _number() - self._before
        if number == 0:
            return None
        figures = _figures()
        datagrams = figures[b"UDP:"] + figures.get(b"UDP6:", 0)
        size = number * _SOCKET + datagrams * (_DATAGRAM_SOCKET - _SOCKET)
        if size > memory or number > _MOST:
            return size, f"{number} sockets"
        if self._loopback is None or cpu_ms * _PINNED_PER_CPU_MS <= memory:
            return None
        named = datagrams + figures[b"TCP:"] + figures.get(b"TCP6:", 0) + _unix_number() - self._unix_before
        # An ended connection is in no table, though its last data may still wait in it.
        self._ended.append(max(0, number - named - _FEW_ENDED))
        pinned = self._loopback.pinned() + min(self._ended) * _ENDED_SOCKET
        return (pinned, f"unread data of {number} sockets") if pinned > memory else None


def count():
    """Returns how many sockets there are now, and how many of them are of the family without a network."""
    number = _number()
    return number, _unix_among(number)


@functools.lru_cache(maxsize=1)
def _unix_among(_all):
    """Their table is long. It is read again only if the number of all has changed, as it hardly ever has between two runs."""
    return _unix_number()


def _number():
    """Returns the number in the first line, such as "sockets: used 3"."""
    return int(os.pread(_tables()[0], 64, 0).split(None, 3)[2])


def _figures():
    """The first figure of each line."""
    text = b"".join(os.pread(fd, 512, 0) for fd in _tables()[:2])
    return {name: int(figure) for name, _, figure, *_ in map(bytes.split, text.splitlines())}


def _unix_number():
    table = _tables()[2]
    os.lseek(table, 0, os.SEEK_SET)
    return sum(text.count(b"\n") for text in iter(lambda: os.read(table, _CHUNK), b""))


@functools.cache
def _tables():
    """Open files of a supervisor, which stays in its network namespace."""
    return [os.open(f"/proc/self/net/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("sockstat", "sockstat6", "unix")]
