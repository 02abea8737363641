"""Forks a process for the supervisor: the process that forks never sees it among its children."""

import os

from ..jail import system

# Kept from before foreign code could replace them.
_fork, _exit, _waitpid, _getppid = (getattr(os, name, None) for name in ("fork", "_exit", "waitpid", "getppid"))
_fork_sibling, _can_fork_siblings = system.fork_sibling, system.can_fork_siblings
_SUPERVISOR_IN_NAMESPACE = 1


def fork():
    """For a process with one thread. Returns whether this is the fork."""
    # Elsewhere the filter refuses a sibling: an orphan goes to the supervisor, too, but all memory is entered into new tables twice.
    if _getppid() == _SUPERVISOR_IN_NAMESPACE and _can_fork_siblings():
        return _fork_sibling() == 0
    between = _fork()
    if between:
        _wait(between)
        return False
    if _fork():
        _exit(0)
    return True


def try_fork():
    """A fork that ends at once: libraries such as numpy end their threads for it. Returns False, as in the process that forks."""
    between = _fork()
    if between == 0:
        _exit(0)
    _wait(between)
    return False


def _wait(child):
    try:
        _waitpid(child, 0)
    except ChildProcessError:
        pass  # the script ignores SIGCHLD
