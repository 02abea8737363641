"""Notices what the import of a module changes beyond its own names.

A module that is imported for runs which did not ask for it must not be noticed by them, and a run that imports it must see what
its import does.
"""

import builtins
import contextlib
import locale
import os
import signal
import sys

from ..limits import watch

_SIGNALS = sorted(signal.valid_signals())
_OBSERVED = {
    "changes environment variables": lambda: dict(os.environ),
    "changes signal handlers": lambda: [signal.getsignal(number) for number in _SIGNALS],
    "changes hooks of the interpreter": lambda: (sys.excepthook, sys.displayhook, sys.unraisablehook, sys.breakpointhook),
    "changes the standard streams": lambda: (sys.stdin, sys.stdout, sys.stderr),
    "changes built-in names": lambda: dict(vars(builtins)),
    "changes the search path": lambda: list(sys.path),
    "changes the current folder": os.getcwd,
    "changes the locale": lambda: locale.setlocale(locale.LC_ALL),
    "opens a socket": lambda: _sockets(),
}


class SideEffects:
    """Used as a context around the import; `found` then has what it does, or None."""

    def __init__(self, folder):
        """`folder`: for what it prints."""
        self._folder = folder

    def __enter__(self):
        self.found = None
        self._before = {what: look() for what, look in _OBSERVED.items()}
        self._output = _unnamed_file(self._folder)
        self._streams = [os.dup(fd) for fd in (1, 2)]
        for fd in (1, 2):
            os.dup2(self._output, fd)
        return self

    def __exit__(self, *_):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        for fd, stream in enumerate(self._streams, start=1):
            os.dup2(stream, fd)
            os.close(stream)
        prints = os.fstat(self._output).st_size > 0
        os.close(self._output)
        changed = [what for what, before in self._before.items() if _OBSERVED[what]() != before]
        self.found = ", ".join([*(["prints"] if prints else []), *changed]) or None


def _unnamed_file(folder):
    """tempfile would load modules that no run needs."""
    path = os.path.join(folder, f"printed-{os.urandom(8).hex()}")
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    return opened


def _sockets():
    """The open sockets of this process, by their numbers in the kernel."""
    found = set()
    for fd in os.listdir("/proc/self/fd") if watch.HAS_PROC else ():
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/self/fd/{fd}"))
    return {target for target in found if target.startswith("socket:")}
