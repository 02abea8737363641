"""Runs a limited number of calls at once; the others wait for their turn, in the order of their arrival."""

_MOST_WAITING = 1000


class TooManyCalls(Exception):
    """Too many calls are waiting."""


class CallsInOrder:
    def __init__(self, most_at_once, run):
        import threading
        from collections import deque

        self._threading = threading
        self._most_at_once = most_at_once
        self._run = run
        self._changed = threading.Condition()
        self._waiting = deque()
        self._running = []
        self._threads = 0
        self._idle = 0

    def add(self, call):
        with self._changed:
            if len(self._waiting) >= _MOST_WAITING:
                raise TooManyCalls
            if self._idle <= len(self._waiting) and self._threads < self._most_at_once:
                self._threading.Thread(target=self._work, daemon=True).start()
                self._threads += 1
            self._waiting.append(call)
            self._changed.notify()

    def cancel(self, call):
        """Drops a call that waits; ends one that runs, with everything that it has started."""
        with self._changed:
            call.is_cancelled = True
            try:
                self._waiting.remove(call)
            except ValueError:
                pass
        call.end()

    def stop(self):
        """Ends all running calls, and drops those that wait."""
        with self._changed:
            self._waiting.clear()
            running = list(self._running)
        for call in running:
            call.is_cancelled = True
            call.end()

    def wait_until_idle(self, is_wanted):
        """Returns when all calls have ended, or `is_wanted()` is false."""
        with self._changed:
            # Wakes up now and then: a signal that comes as the wait begins is noticed only after it.
            while is_wanted() and not self._changed.wait_for(lambda: not self._waiting and not self._running, 1):
                pass

    def counts(self):
        with self._changed:
            return len(self._running), len(self._waiting)

    def _work(self):
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._waiting)
                self._idle -= 1
                call = self._waiting.popleft()
                self._running.append(call)
            try:
                self._run(call)
            finally:
                with self._changed:
                    self._running.remove(call)
                    self._changed.notify_all()
