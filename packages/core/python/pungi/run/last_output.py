"""Text after the last newline is still in the worker's memory when its run is stopped: the worker is asked to write it.

It has a moment for that, in which every other process of the run is stopped. On a busy machine it first waits for a processor: the
moment is then as much processor time. A worker that does something else is killed.
"""

import contextlib
import os
import select
import signal
import sys
import time
from _thread import start_new_thread as _start_thread

from . import streams

# Memory is not among them: a run that exceeds its memory has no moment left.
REASONS = ("timeout", "cpu", "cancelled")
# No program uses the last signal. Systems without it skip this.
SIGNAL = getattr(signal, "SIGRTMAX", None)
_MOMENT, _LONGEST_MOMENT, _LOOK_EVERY_MS = 0.05, 0.5, 5
_exit = os._exit


def promise():
    """In the worker."""
    if SIGNAL is not None:
        signal.signal(SIGNAL, _write_and_end)


def _write_and_end(number, frame):
    is_amid_write = False
    for stream in (sys.stdout, sys.stderr, *streams.outputs):
        try:
            stream.flush()
        except RuntimeError:
            is_amid_write = True
        except BaseException:
            continue  # it is closed, or foreign
    if is_amid_write and number:
        with contextlib.suppress(RuntimeError):
            _start_thread(_write_and_end, (0, None))  # it waits until the interrupted write is done
            return
    _exit(128 + SIGNAL)


def wait_for(reaper, pipes):
    """In the supervisor. `pipes`: descriptor to the receiver of its output."""
    if SIGNAL is None:
        return
    asked = time.monotonic()
    has_time = reaper.ask(SIGNAL, _MOMENT)
    poller = select.poll()
    for fd in pipes:
        poller.register(fd, select.POLLIN)
    while reaper.look() is None and ((passed := time.monotonic() - asked) < _MOMENT or (passed < _LONGEST_MOMENT and has_time())):
        for fd, event in poller.poll(_LOOK_EVERY_MS):
            if event & select.POLLIN:
                pipes[fd]()
            else:
                poller.unregister(fd)
