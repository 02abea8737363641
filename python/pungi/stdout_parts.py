"""The parts of a run's stdout in the memory of its worker, for the supervisor to look at (burst.py), and the signal that switches
it between writing lines and writing blocks.
"""

import ctypes
import functools
import io
import os
import select
import signal
import struct
import threading
from typing import NamedTuple

# Ignored by default: it does no harm to a worker that has become another program.
SIGNAL = getattr(signal, "SIGURG", None)
# Whether every line is written, and whether text goes to the buffer at once. Neighbours in memory: to swap them is to switch.
LINES, BLOCKS = b"\1\0", b"\0\1"
WORD = struct.calcsize("n")


class Parts(NamedTuple):
    """Addresses in the memory of every worker, which all have the stream of the fork server."""

    flags: int
    # The thread that uses the buffer; zero for none.
    owner: int
    # How many bytes wait in the buffer; below zero for none.
    waiting: int
    buffer: int
    size: int
    # The signal's handler.
    switch: object


parts = None


def prepare(stream):
    """In the fork server: finds the parts of stdout, by looking at what changes when it is used. A pipe must be behind it.

    Where anything is not as expected, there are no bursts, and every line is written."""
    global parts
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            parts = _find(stream, lambda address, size: os.pread(memory.fileno(), size, address))
    except (OSError, OverflowError, ValueError, AttributeError):
        parts = None
    finally:
        stream.reconfigure(line_buffering=True, write_through=False)


def _find(stream, read):
    binary = stream.buffer
    owner, waiting, buffer = _parts_of_buffer(read)
    (buffer,) = struct.unpack("n", read(id(binary) + buffer, WORD))
    size = binary.__sizeof__() - type(binary).__basicsize__
    # Then a block is written in one piece, between whatever others write.
    if not 0 < size <= select.PIPE_BUF:
        raise ValueError("large blocks")
    flags = _flags_of(stream, read)
    return Parts(flags, id(binary) + owner, id(binary) + waiting, buffer, size, _make_switch(flags))


def _flags_of(stream, read):
    def image(by_line, at_once):
        stream.reconfigure(line_buffering=by_line, write_through=at_once)
        return read(id(stream), type(stream).__basicsize__)

    lines = image(True, False)
    (by_line,) = _differences(lines, image(False, False))
    (at_once,) = _differences(lines, image(True, True))
    if at_once != by_line + 1 or lines[by_line : at_once + 1] != LINES:
        raise ValueError("unknown flags")
    return id(stream) + by_line


def _parts_of_buffer(read):
    """Where in a BufferedWriter they are."""

    class Raw(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            in_use.append(words())
            return len(data)

    def words():
        size = type(binary).__basicsize__ // WORD
        return struct.unpack(f"{size}n", read(id(binary), size * WORD))

    in_use, text = [], b"where is it?"
    binary = io.BufferedWriter(Raw())
    empty = words()
    binary.write(text)
    filled = words()
    binary.flush()
    (owner,) = (at for at, word in enumerate(in_use[0]) if (filled[at], word) == (0, threading.get_ident()))
    (waiting,) = (at for at, word in enumerate(filled) if (empty[at], word) == (-1, len(text)))
    (buffer,) = (at for at, word in enumerate(filled) if word > 0 and _holds(read, word, text))
    return owner * WORD, waiting * WORD, buffer * WORD


def _differences(before, after):
    return [at for at, (one, other) in enumerate(zip(before, after)) if one != other]


def _holds(read, address, text):
    try:
        return read(address, len(text)) == text
    except OSError:
        return False


def _make_switch(flags):
    """A signal handler that is no Python code: it has no frame that a script could see, raises nothing, and may run while the
    stream is in use."""
    swap = ctypes.PyDLL(None).swab
    # Python adds the signal's number and a frame, which the function does not look at.
    swap.argtypes, swap.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.py_object), None
    sample = ctypes.create_string_buffer(LINES, 2)
    swap(sample, sample, 2, 0, None)
    if sample.raw != BLOCKS:
        raise ValueError("swab needs two places")
    return functools.partial(swap, flags, flags, 2)


def promise():
    """In the worker."""
    if parts is not None:
        signal.signal(SIGNAL, parts.switch)
        signal.siginterrupt(SIGNAL, False)
