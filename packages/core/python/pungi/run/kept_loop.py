"""The event loop of a session: `await` outside of functions runs in it, and its tasks go on when a later call awaits.

Between two calls it holds nothing open, or the session could not be copied.
"""

import contextlib

# What runs it, and the loop while it is put away.
_kept = _away = None


def run(main):
    global _kept
    import asyncio

    if _kept is None or _kept.get_loop().is_closed():
        _kept = getattr(asyncio, "Runner", _Runner)()
    _kept.run(main)


def put_away():
    """Closes the selector and the sockets by which threads wake it, unless the script waits for files of its own."""
    global _away
    if _kept is None or _away is not None:
        return
    with contextlib.suppress(Exception):  # a loop of another kind
        loop = _kept.get_loop()
        if not loop.is_closed() and not loop._signal_handlers and len(loop._selector.get_map()) == 1:
            loop._close_self_pipe()
            loop._selector.close()
            _away = loop


def take_out():
    """Before the script runs, which may use the loop in any way."""
    global _away
    if _away is None:
        return
    import selectors

    with contextlib.suppress(OSError):  # too many open files: the script can close some
        _away._selector = selectors.DefaultSelector()
        _away._make_self_pipe()
        _away = None


class _Runner:
    """Before Python 3.11, in the place of asyncio.Runner."""

    def __init__(self):
        import asyncio

        self._loop = asyncio.new_event_loop()

    def get_loop(self):
        return self._loop

    def run(self, main):
        task = self._loop.create_task(main)
        try:
            self._loop.run_until_complete(task)
        finally:
            if task.cancel():
                with contextlib.suppress(BaseException):
                    self._loop.run_until_complete(task)
