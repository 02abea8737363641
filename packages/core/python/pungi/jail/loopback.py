"""The loopback of a supervisor's own, otherwise empty network namespace: servers and clients of one run find each other there.

The kernel would let TCP buffers grow to megabytes that no process shows, and counts the bytes that wait in a socket, not the
pages that they keep: one unread byte can keep the 32 KB that it was sent from. Both are bounded here.
"""

import contextlib
import os
import socket
import struct

from . import system

# Together less than sockets.py counts for a socket.
_TCP_BUFFERS = {"tcp_rmem": 128 * 1024, "tcp_wmem": 64 * 1024}
_SETTINGS = {
    # Connections not yet accepted and messages not yet read own no descriptor.
    "core/somaxconn": 128, "unix/max_dgram_qlen": 10, "core/optmem_max": 20480,
    # Connections that were closed, and wait for their other end.
    "ipv4/tcp_max_tw_buckets": 4096, "ipv4/tcp_fin_timeout": 5,
    "ipv4/tcp_max_syn_backlog": 128,
    **{f"ipv4/{name}": f"4096 {most} {most}" for name, most in _TCP_BUFFERS.items()},
}
# Counters of packets, and of packets that found no route.
_TRACES = ("snmp", "snmp6")

_NETLINK, _SOCK_DIAG = 16, 4
# struct nlmsghdr; struct inet_diag_req_v2 with all states that hold data; the size of struct inet_diag_msg behind the header.
_HEADER = struct.Struct("=IHHII")
_BY_FAMILY, _REQUEST_DUMP, _ERROR, _DONE = 20, 0x301, 2, 3
_MEMORY_ATTRIBUTE = 7
_STATES = 0xFFF & ~(1 << 6) & ~(1 << 10)
_MESSAGE, _QUEUES_AT, _QUEUES = 72, 56, struct.Struct("=II")
_ATTRIBUTE, _MEMORY = struct.Struct("=HH"), struct.Struct("=6I")
_PAGES, _PAGES_OF_BUFFER, _SMALLEST_BUFFER = 32768, 17, 832


def bound_sockets():
    """In the supervisor, once, before there is a loopback."""
    for name, value in _SETTINGS.items():
        with contextlib.suppress(OSError):  # not every kernel lets a network namespace have its own
            _write_setting(name, value)


def open_loopback():
    """In the supervisor, once: the loopback, or None if TCP memory on it could not be bounded."""
    try:
        for name in _TCP_BUFFERS:
            _write_setting(f"ipv4/{name}", _SETTINGS[f"ipv4/{name}"])
        loopback = Loopback()
        loopback.pinned()
        system.raise_loopback()
    except OSError:
        return None
    loopback.remember()
    return loopback


def _write_setting(name, value):
    with open(f"/proc/sys/net/{name}", "w", encoding="ascii") as file:
        file.write(f"{value}")


class Loopback:
    def __init__(self):
        self._questions = socket.socket(_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)
        self._traces = [os.open(f"/proc/self/net/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in _TRACES]
        self._before = None

    def remember(self):
        self._before = self._read_traces()

    def was_used(self):
        """Whether anything was sent since: closing connections, and counters, would show it to the next run."""
        return self._read_traces() != self._before

    def _read_traces(self):
        return [os.pread(fd, 8192, 0) for fd in self._traces]

    def pinned(self):
        """The most bytes that the data in TCP queues can keep in memory, beyond what the kernel counts for it."""
        return sum(map(self._pinned_by, (socket.AF_INET, socket.AF_INET6)))

    def _pinned_by(self, family):
        request = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 1 << (_MEMORY_ATTRIBUTE - 1), _STATES)
        self._questions.send(_HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _REQUEST_DUMP, 0, 0) + request)
        total = 0
        while True:
            answer, at = self._questions.recv(1 << 17), 0
            while at < len(answer):
                length, kind, *_ = _HEADER.unpack_from(answer, at)
                if kind == _ERROR:
                    raise OSError("this kernel does not list the sockets of a network namespace")
                if kind == _DONE:
                    return total
                total += _pages_kept(answer, at + _HEADER.size, at + length)
                at += -(-length // 4) * 4


def _pages_kept(answer, start, end):
    """The most that one socket keeps: each byte keeps a page at most, and so does each of the seventeen pieces of a buffer."""
    waiting, unsent = _QUEUES.unpack_from(answer, start + _QUEUES_AT)
    at = start + _MESSAGE
    while at < end:
        length, kind = _ATTRIBUTE.unpack_from(answer, at)
        if kind == _MEMORY_ATTRIBUTE:
            received, _, _, _, _, queued = _MEMORY.unpack_from(answer, at + _ATTRIBUTE.size)
            return _most_kept(waiting, received) + _most_kept(unsent, queued)
        at += -(-length // 4) * 4
    return 0


def _most_kept(data, memory):
    """`memory`: what the kernel counts, which is the data and its buffers."""
    pieces = _PAGES_OF_BUFFER * -(-max(0, memory - data) // _SMALLEST_BUFFER)
    return _PAGES * min(data, pieces)
