"""A process that waits for its call: started ahead, so that nobody waits for an interpreter to start. Each is used once."""


class ReadyProcesses:
    """`start()` gives a new process."""

    def __init__(self, start):
        import threading

        self._start = start
        self._lock = threading.Lock()
        self._ready = None
        self._is_closed = False

    def take(self):
        with self._lock:
            process, self._ready = self._ready, None
        if process is not None and not process.has_ended():
            return process
        if process is not None:
            _dispose(process)
        return self._start()

    def refill(self):
        """For the next call. Where it cannot be started, that call will say so."""
        with self._lock:
            if self._ready is not None or self._is_closed:
                return
            try:
                self._ready = self._start()
            except OSError:
                pass

    def close(self):
        with self._lock:
            self._is_closed = True
            process, self._ready = self._ready, None
        if process is not None:
            _dispose(process)


def _dispose(process):
    process.end()
    process.leave()
    process.stdout.close()
    process.stderr.close()
    process.end_rest()
