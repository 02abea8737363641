"""The socket between the guard and the fork server: reports one way, orders and a file of memory the other, each a line of JSON."""

import contextlib
import json
import os
import select
import socket

from ..jail import system

_CHUNK = 65536
LONGEST_REPORT = 4096
# The answer to a fork server that asks for a file, which comes with it.
_LENT = b'{"lent": true}'


def pack_line(message):
    return json.dumps(message).encode() + b"\n"


# In the guard.


def read_report(line):
    """Returns {} for anything but a report: packages may have written it."""
    if len(line) > LONGEST_REPORT:
        return {}
    try:
        report = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}


def lend(door, file):
    """Answers a fork server that asks for a file, and closes it. `file`: None if there is none for it."""
    try:
        with contextlib.suppress(OSError):  # packages have asked in its place, and do not listen
            socket.send_fds(door, [_LENT + b"\n"], [] if file is None else [file])
    finally:
        if file is not None:
            os.close(file)


# In the fork server.


def stay_with_guard(door):
    """Call it once the identity is settled: the kernel resets this setting at every change of identity."""
    if system.IS_LINUX:
        system.die_with_parent()
    if select.select([door], [], [], 0)[0]:
        os._exit(1)  # the guard sends nothing so early: it is gone


def send_report(door, **report):
    door.sendall(pack_line(report)[-LONGEST_REPORT:])


def wait_to_load(door):
    """Waits until the guard knows which processes are ours, and counts what packages start."""
    send_report(door, loading=True)
    if not door.recv(_CHUNK):
        os._exit(1)


def borrow(door, size):
    """Returns a file of this size for the memory of the fork server, or None."""
    send_report(door, memory=size)
    if not door.recv(len(_LENT), socket.MSG_PEEK).startswith(_LENT):
        return None  # an order already: packages have said that they are ready
    _, files, _, _ = socket.recv_fds(door, _CHUNK, 1)
    return files[0] if files else None
