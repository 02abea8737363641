"""Finds and ends, on POSIX, every process that a call has started, also those that left its process group."""

import os

CALL_MARK = "WRAPPER_CALL"
_ROUNDS = 20


def end_group(leader):
    """Call this only while the leader is not reaped: its number cannot be another's until then."""
    import signal

    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # no process is left, or (on macOS) only zombies


def end_strays(mark, leader=None, folder="/proc"):
    """Ends the processes with the mark in their environment, and, as long as the leader lives, its descendants. On Linux;
    elsewhere there is no list of processes, and those that left the group stay."""
    import signal

    for _ in range(_ROUNDS):
        strays = find_strays(mark, leader, folder)
        if not strays:
            return
        for number in strays:
            try:
                os.kill(number, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass


def find_strays(mark, leader=None, folder="/proc"):
    try:
        numbers = [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []
    needle = f"{CALL_MARK}={mark}".encode()
    marked = {number for number in numbers if needle in _read_bytes(f"{folder}/{number}/environ").split(b"\0")}
    if leader is not None:
        marked |= _descendants(leader, {number: _parent_of(f"{folder}/{number}/stat") for number in numbers})
    return [number for number in marked if number not in (os.getpid(), leader) and not _is_dead(f"{folder}/{number}/stat")]


def _descendants(leader, parents):
    found, waiting = set(), [leader]
    while waiting:
        parent = waiting.pop()
        children = [number for number, other in parents.items() if other == parent and number not in found]
        found.update(children)
        waiting += children
    return found


def _stat_words(path):
    """The fields after the name, which may hold anything: state, parent, …"""
    return _read_bytes(path).rpartition(b")")[2].split()


def _parent_of(path):
    words = _stat_words(path)
    return int(words[1]) if len(words) > 1 else None


def _is_dead(path):
    words = _stat_words(path)
    return not words or words[0] in (b"Z", b"X")


def _read_bytes(path):
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
