"""Signals that end the program, noticed at once wherever it waits for its client."""

import os


class Stop(BaseException):
    """A signal that ends the program, raised wherever the main thread is."""


def catch_signals():
    """Returns a replacement of `os.read`. A signal that comes in the moment before a read begins would be noticed only when the
    read ends; one that also writes to a pipe is not missed."""
    import signal

    def stop(number, frame):
        _answer_signals(signal.SIG_IGN)
        raise Stop(number)

    if os.name == "nt":
        _answer_signals(stop)
        return os.read  # a wait for a pipe of the client cannot be shared with another there
    import select

    awake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    _answer_signals(stop)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def read(descriptor, size):
        while descriptor not in select.select([descriptor, awake], [], [])[0]:
            os.read(awake, 64)  # a signal that does not end the program
        return os.read(descriptor, size)

    return read


def _answer_signals(handler):
    """The signals that end a program, as far as this system has them."""
    import signal

    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), handler)
