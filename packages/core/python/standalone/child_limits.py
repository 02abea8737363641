"""The subprocess of a call limits itself before the script is loaded, and arranges to end with the wrapper."""

import os
import sys


def limit_memory(megabytes):
    """Sets the limits that the system has. On Windows the wrapper's job object does it, from outside."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = megabytes * 1024 * 1024
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    # Data and not address space: libraries reserve much more of that than they ever use.
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, wanted))


def die_with_wrapper(lifeline):
    """On Linux the kernel ends this process group as soon as the wrapper, however it ends, closes the pipe's other end."""
    if not sys.platform.startswith("linux"):
        return
    import fcntl
    import signal

    try:
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    except OSError:
        pass  # a kernel without it: then only the wrapper itself ends what it started
