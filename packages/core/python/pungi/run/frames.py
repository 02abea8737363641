"""Frames on a stream: four bytes of length, one byte of kind, then the payload."""

import os
import struct

HEAD = struct.Struct(">IB")
HEAD_SIZE = HEAD.size
MAX_PAYLOAD = 64 * 1024 * 1024
# Kept from before foreign code could replace them.
_read, _write, _unpack = os.read, os.write, HEAD.unpack

# From the server to a supervisor.
LIMITS, JOB, INPUT, STDIN, CANCEL, WARM_UP = b"LJIsCW"
# Makes, takes up or removes a copy of a session. A supervisor asks a worker with it to fork.
COPY = b"B"[0]
# From a worker or its supervisor to the server. A worker gets an empty DISPLAY for each that it sends.
HELLO, PARKED, FAILED, STDOUT, STDERR, WANTED, DISPLAY, SUMMARY, FILE, REPORT, END = b"HPFoewdSiRX"
# From a worker to its supervisor: the run failed, measure it before it ends; the run is over, all went well;
# the code has left its scope, end it; the job of a session is over, the worker waits for the next one.
TROUBLE, FINISHED, VIOLATION, PAUSED = b"TDVK"


def pack(kind, payload=b""):
    return HEAD.pack(len(payload), kind) + payload


class FrameParser:
    """Collects bytes and returns whole frames."""

    def __init__(self, max_payload=MAX_PAYLOAD, max_display=MAX_PAYLOAD):
        # The bytes that have arrived, and the place in them where the next frame begins.
        self._data, self._at = b"", 0
        self.max_payload, self.max_display = max_payload, max_display

    def feed(self, data):
        if self._at < len(self._data):
            # A part of a frame is left: more of it is added in place.
            whole = bytearray(self._data) if isinstance(self._data, bytes) else self._data
            del whole[: self._at]
            whole += data
            data = whole
        self._data, self._at = data, 0

    def frames(self):
        while len(self._data) >= (start := self._at + HEAD_SIZE):
            length, kind = HEAD.unpack_from(self._data, self._at)
            if length > (self.max_display if kind == DISPLAY else self.max_payload):
                raise ValueError(f"a frame of {length} bytes")
            if len(self._data) < start + length:
                return
            self._at = start + length
            yield kind, bytes(self._data[start : self._at])


def read_frame(fd):
    """Reads one frame from a blocking descriptor; None at its end."""
    head = _read_exactly(fd, HEAD_SIZE)
    if head is None:
        return None
    length, kind = _unpack(head)
    payload = _read_exactly(fd, length)
    return None if payload is None else (kind, payload)


def _read_exactly(fd, size):
    data = _read(fd, size) if size else b""
    while len(data) < size:
        chunk = _read(fd, size - len(data))
        if not chunk:
            return None
        data += chunk
    return data


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[_write(fd, view) :]
