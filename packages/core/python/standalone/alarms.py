"""Actions at a later time, all of them on one thread."""

import time


class Alarms:
    def __init__(self, name):
        import threading

        self._threading = threading
        self._name = name
        self._changed = threading.Condition()
        self._actions = {}
        self._thread = None
        self._count = 0

    def set(self, seconds, action):
        """Returns the argument for `cancel`."""
        with self._changed:
            self._count += 1
            self._actions[self._count] = (time.monotonic() + seconds, action)
            if self._thread is None:
                self._thread = self._threading.Thread(target=self._ring, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()
            return self._count

    def cancel(self, alarm):
        with self._changed:
            self._actions.pop(alarm, None)

    def _ring(self):
        while True:
            with self._changed:
                number, (moment, action) = min(self._actions.items(), key=lambda item: item[1][0], default=(0, (None, None)))
                wait = None if moment is None else moment - time.monotonic()
                if wait is None or wait > 0:
                    self._changed.wait(wait)
                    continue
                del self._actions[number]
            action()
