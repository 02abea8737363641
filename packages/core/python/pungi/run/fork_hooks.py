"""A template's own bookkeeping around a fork, in place of the interpreter's.

The interpreter and its library renew locks, the list of threads and random numbers in each child. A template has one thread and holds no
lock, so its workers need none of that, and would copy a hundred pages for it. Only where packages have registered hooks of their own is
all of it done in every worker.
"""

import contextlib
import os
import random
import sys
import threading
from _thread import get_native_id

# Modules whose hooks renew locks, threads, the event loop that is running and random numbers.
_OF_LIBRARY = {"asyncio.events", "concurrent.futures.thread", "logging", "random", "threading"}
# Looked up once: a worker copies a page for every name that it looks up.
_about_main_thread = vars(threading.main_thread())
# Kept from before packages could replace it.
_seed = random.seed
_has_foreign_hooks = False


@contextlib.contextmanager
def noticing_packages():
    """Around the loading of packages."""
    register = getattr(os, "register_at_fork", None)
    if register is None:
        yield
        return

    def notice(**hooks):
        global _has_foreign_hooks
        register(**hooks)
        _has_foreign_hooks |= sys._getframe(1).f_globals.get("__name__") not in _OF_LIBRARY

    places = os, sys.modules["posix"]
    for place in places:
        place.register_at_fork = notice
    try:
        yield
    finally:
        for place in places:
            place.register_at_fork = register


def are_needed():
    """In a template: whether its workers need the bookkeeping of the interpreter."""
    return _has_foreign_hooks or "t" in sys.abiflags  # free-threaded: it has more to renew


def renew_random_numbers():
    """The library reseeds itself in a forked process; numpy's global generator would repeat itself in every run."""
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "big"))


def renew_all_random_numbers():
    """In a template, before it forks without bookkeeping: the worker gets other numbers than the one before it."""
    _seed()
    renew_random_numbers()


def renew_main_thread():
    """In a worker: the interpreter keeps the number of the thread from which it was forked."""
    _about_main_thread["_native_id"] = get_native_id()
