"""The log, and what clients see of it. A script's own failures are reported in full; failures of the wrapper only by an id of
their log entry: the wrapper's paths and environment stay private."""

import os
import sys
import time

from .shown import printable_lines

_MOST_LINES = 200

class Log:
    """Entries on standard error or in a file. No failure here stops the wrapper."""

    def __init__(self, path=None):
        import threading

        self._path = path
        self._lock = threading.Lock()

    def write(self, level, text, entry_id="-"):
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lines = printable_lines(text.rstrip())
        if len(lines) > _MOST_LINES:
            half = _MOST_LINES // 2
            lines[half:-half] = [f"… {len(lines) - 2 * half} lines left out …"]
        # The further lines of an entry are indented, so that no script can write what looks like another entry.
        body = "\n    ".join(lines)
        data = f"{moment} {level} {entry_id} {body}\n".encode()
        with self._lock:
            try:
                self._append(data)
            except OSError:
                pass

    def _append(self, data):
        if self._path is None:
            os.write(2, data)
            return
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)

    def wrapper_failure(self, doing):
        """Logs the exception that is being handled; returns the sentence and the id for the client."""
        import traceback

        entry_id = new_id()
        self.write("WRAPPER-ERROR", f"{doing}\n{traceback.format_exc()}", entry_id)
        kind = sys.exc_info()[0].__name__
        return f"The wrapper itself failed while {doing} ({kind}). Its log has the details in entry {entry_id}.", entry_id


def new_id():
    return os.urandom(6).hex()
