"""Compiles the sources that packages bring, in a process that can do nothing else.

A source of a few bytes can make the compiler take gigabytes and minutes, and perhaps break it. So it is compiled in a process
without files, sockets and children, with bounds on memory and time. What exceeds them is not compiled.
"""

import marshal
import os
import resource
import select
import struct
import time
import warnings

from ..jail import host_jail, landlock, seccomp, system

LARGEST_SOURCE = 16 << 20
_LARGEST_BYTECODE = 64 << 20
# The largest modules of scientific packages take a third of it, and a second or two.
_MEMORY = 512 << 20
_SECONDS = 10
_LENGTH = struct.Struct("<q")
_CHUNK = 1 << 20
# The answer to a source that is not Python, or takes too much memory.
_NOT_COMPILED = -1


class Compiler:
    """A separate process, started when it is needed and again when it was lost. `uid`: its user, if this process is root."""

    def __init__(self, uid):
        self._uid = uid
        self._pid = None
        # Sources that exceeded a limit, or crashed the process.
        self.overruns = 0

    def compile(self, source):
        """The marshalled code, or None."""
        if len(source) > LARGEST_SOURCE:
            return None
        if self._pid is None:
            self._start()
        try:
            return self._ask(source)
        except (OSError, TimeoutError):
            self.overruns += 1
            self.close()
            return None

    def close(self):
        if self._pid is None:
            return
        os.close(self._to)
        os.close(self._from)
        os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)
        self._pid = None

    def _start(self):
        inside, self._to = os.pipe()
        self._from, outside = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _become_compiler(inside, outside, self._uid)
            finally:
                os._exit(1)
        os.close(inside)
        os.close(outside)

    def _ask(self, source):
        deadline = time.monotonic() + _SECONDS
        _write(self._to, _LENGTH.pack(len(source)) + source, deadline)
        (length,) = _LENGTH.unpack(_read(self._from, _LENGTH.size, deadline))
        if length == _NOT_COMPILED:
            return None
        if not 0 < length <= _LARGEST_BYTECODE:
            raise OSError("the compiler answered with too much")
        return _read(self._from, length, deadline)


def _become_compiler(source_fd, answer_fd, uid):
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    kept = sorted({2, source_fd, answer_fd})
    for before, after in zip([-1, *kept], [*kept, 4096]):
        os.closerange(before + 1, after)
    _enter_jail(uid)
    warnings.simplefilter("ignore")
    while True:
        (length,) = _LENGTH.unpack(_read(source_fd, _LENGTH.size))
        answer = _compile(_read(source_fd, length))
        _write(answer_fd, _LENGTH.pack(_NOT_COMPILED) if answer is None else _LENGTH.pack(len(answer)) + answer)


def _enter_jail(uid):
    """Applies as much of the jail as this machine supports. The process needs only its descriptors."""
    if system.IS_LINUX:
        if os.getuid() == 0:
            host_jail.become(uid)
        system.die_with_parent()
        system.drop_capabilities()
    limits = {"CORE": 0, "FSIZE": 0, "NPROC": 0, "DATA": _MEMORY}
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    if landlock.abi() > 0:
        landlock.restrict([])
    if seccomp.is_supported():
        seccomp.install(has_namespaces=False)


def _compile(source):
    try:
        # Bytecode is shared, so its path names nothing: an import sets its own.
        answer = marshal.dumps(compile(source, "<shared>", "exec", dont_inherit=True))
    except Exception:
        return None
    return answer if len(answer) <= _LARGEST_BYTECODE else None


def _read(fd, length, deadline=None):
    parts = []
    while length:
        _wait([fd], [], deadline)
        if not (part := os.read(fd, min(length, _CHUNK))):
            raise OSError("the other end is gone")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _write(fd, data, deadline=None):
    view = memoryview(data)
    while view:
        _wait([], [fd], deadline)
        # No more than the pipe takes at once, or the write would block.
        view = view[os.write(fd, view[: select.PIPE_BUF]) :]


def _wait(readable, writable, deadline):
    left = None if deadline is None else max(0, deadline - time.monotonic())
    if not any(select.select(readable, writable, [], left)):
        raise TimeoutError
