"""A process that waits for its call: started ahead, so that no call waits for an interpreter to start. Each is used once."""


class ReadyProcesses:
    """`start()` returns a new process."""

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
        """Starts a process for the next call. If it cannot be started, that call reports the error."""
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
