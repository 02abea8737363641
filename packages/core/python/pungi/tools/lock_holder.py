"""Holds one lock for the server: Node has no flock, and the kernel releases what a process holds when it dies.

stdin: a line of JSON, {"path": PATH, "exclusive": BOOL, "create": BOOL, "waitMs": NUMBER | null}; its end releases the lock.
stdout: {"waiting": true} if others hold the lock and the wait has no limit, then one of {"held": true}, {"busy": true},
{"gone": true} if the file does not exist and must not be created, {"failed": REASON, "isUnsupported": BOOL}.
"""

import fcntl
import json
import os
import signal
import sys
import threading
import time

from ..jail import system
from ..run.lease import UnsupportedError, open_locked

_LOOK_AGAIN = 0.01


def main():
    if system.IS_LINUX:
        system.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = json.loads(sys.stdin.buffer.readline())
    # Waiting for a lock cannot be interrupted, so another thread waits for the server.
    server = threading.Thread(target=_end_with_server, daemon=True)
    server.start()
    answer = _acquire(order["path"], fcntl.LOCK_EX if order["exclusive"] else fcntl.LOCK_SH, order["create"], order["waitMs"])
    _answer(answer)
    if "held" in answer:
        server.join()
    os._exit(0)


def _end_with_server():
    sys.stdin.buffer.read()
    os._exit(0)


def _acquire(path, operation, create, wait_ms):
    try:
        if not _try(path, operation, create, wait_ms or 0):
            if wait_ms is not None:
                return {"busy": True}
            _answer({"waiting": True})
            open_locked(path, operation, create)
        return {"held": True}
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not create:
            return {"gone": True}
        is_unsupported = isinstance(error, UnsupportedError)
        return {"failed": f"{error}" if is_unsupported else f"{error.strerror}: {path}", "isUnsupported": is_unsupported}


def _try(path, operation, create, wait_ms):
    """Returns whether the lock was acquired. A caller that does not wait is still not refused for a lock held for a moment."""
    deadline = time.monotonic() + wait_ms / 1000
    while True:
        try:
            open_locked(path, operation | fcntl.LOCK_NB, create)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
        time.sleep(_LOOK_AGAIN)


def _answer(answer):
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
