"""What the standard library does in a forked process: it renews its locks, its list of threads and its random numbers.

A worker that a template forks needs none of it, and would copy a hundred pages for it: the template has one thread, holds no lock, and
renews the random numbers itself. What packages have registered is done in every process.
"""

import os
import sys

_hooks = []
# Holds the main thread if the next fork leaves them out. The child takes it away: its own children renew everything.
_leaves_out = []


def take_over():
    """First of all, before anything else imports these modules."""
    register = getattr(os, "register_at_fork", None)
    if register is None or "threading" in sys.modules or "random" in sys.modules:
        return
    os.register_at_fork = lambda after_in_child: _hooks.append(after_in_child)
    try:
        import random  # noqa: F401
        import threading  # noqa: F401
    finally:
        os.register_at_fork = register
    register(after_in_child=_renew)


def _renew():
    if _leaves_out:
        _leaves_out.pop()._set_native_id()
        return
    for hook in _hooks:
        hook()


def leave_out():
    """In a template, before it forks a worker, which gets other random numbers than the one before it."""
    if _hooks:
        _leaves_out[:] = (sys.modules["threading"].main_thread(),)
        sys.modules["random"].seed()
    renew_random_numbers()


def renew_random_numbers():
    """The standard library reseeds itself after a fork; numpy's global generator would repeat itself in every run."""
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "big"))
