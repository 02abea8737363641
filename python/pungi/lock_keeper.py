"""Holds locks for the server, in a process of its own: Node has no flock, and what the kernel holds for a process it lets
go of when that process dies, however it dies.

stdin: lines of JSON: {"id": 1, "lock": PATH, "mode": "shared" | "exclusive", "wait": BOOL}; {"unlock": 1} gives a lock
back; {"cancel": 1} gives up waiting for one, or gives it back if it was had meanwhile. The end of stdin ends us.
stdout: a line for each request: {"id": 1, "held": true}, {"id": 1, "busy": true} where it should not wait, or
{"id": 1, "failed": REASON}; before it {"id": 1, "waiting": true}, where the lock cannot be had at once.
"""

import json
import os
import resource
import select
import signal
import sys
import time

from . import system
from .fair_lock import FairLock

# Other processes cannot tell us that they released a lock, so it is looked at, less and less often.
_FIRST_LOOK, _SELDOM = 0.001, 0.02
# Who does not want to wait is not sent away for what is over in a moment.
_MOMENT = 0.05
_OPEN_FILES = 10_240


def main():
    if system.IS_LINUX:
        system.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _allow_open_files()
    try:
        _serve(Keeper())
    except Exception as error:
        print(f"the lock keeper failed: {error!r}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def _allow_open_files():
    """Every hold is an open file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _serve(keeper):
    pending = b""
    while True:
        ready, _, _ = select.select([0], [], [], keeper.pause())
        if ready:
            chunk = os.read(0, 65536)
            if not chunk:
                return
            *lines, pending = (pending + chunk).split(b"\n")
            for line in filter(None, lines):
                keeper.take(json.loads(line))
        keeper.look()
        keeper.tell()


class Request:
    def __init__(self, order):
        self.id = order["id"]
        self.path = order["lock"]
        self.exclusive = order["mode"] == "exclusive"
        self.number = None
        self.deadline = None if order["wait"] else time.monotonic() + _MOMENT


class Keeper:
    """The locks that are held, and the lines that are waited in."""

    def __init__(self):
        self.answers = []
        self._rooms = {}
        self._lines = {}
        self._requests = {}

    def take(self, order):
        if "id" in order:
            self._ask(Request(order))
        else:
            self._drop(order.get("unlock", order.get("cancel")))

    def pause(self):
        """Seconds until something has to be looked at; None while nobody waits."""
        if not self._lines:
            return None
        return max(0.0, min(line.next_look for line in self._lines.values()) - time.monotonic())

    def look(self):
        now = time.monotonic()
        for line in [line for line in self._lines.values() if line.next_look <= now]:
            self._advance(line)

    def tell(self):
        if self.answers:
            sys.stdout.write("".join(f"{json.dumps(answer)}\n" for answer in self.answers))
            sys.stdout.flush()
            self.answers.clear()

    def _ask(self, request):
        try:
            line = self._lines.get(request.path) or Line(request.path)
        except OSError as error:
            self._answer(request, failed=_reason(error))
            return
        self._lines[request.path] = line
        self._requests[request.id] = request
        line.add(request)
        self._advance(line)
        if request.id in self._requests and request.deadline is None:
            self._answer(request, waiting=True)

    def _drop(self, name):
        """The lock is given back if it is held, and no longer waited for if it is not."""
        if (held := self._rooms.pop(name, None)) is not None:
            path, room = held
            os.close(room)
            line = self._lines.get(path)
        elif (request := self._requests.pop(name, None)) is not None:
            line = self._lines[request.path]
            line.remove(request)
        else:
            return
        if line is not None:
            self._advance(line)

    def _advance(self, line):
        for request, ending in line.advance():
            del self._requests[request.id]
            if isinstance(ending, OSError):
                self._answer(request, failed=_reason(ending))
            elif ending is None:
                self._answer(request, busy=True)
            else:
                self._rooms[request.id] = (request.path, ending)
                self._answer(request, held=True)
        if line.is_empty():
            del self._lines[line.path]
            line.close()

    def _answer(self, request, **said):
        self.answers.append({"id": request.id, **said})


class Line:
    """The requests of this process for one lock, in the order of asking."""

    def __init__(self, path):
        self.path = path
        self.next_look = 0.0
        self._pause = _FIRST_LOOK
        self._lock = FairLock(path)
        self._waiting = []
        self._hasty = []

    def add(self, request):
        (self._waiting if request.deadline is None else self._hasty).append(request)
        self._pause = _FIRST_LOOK

    def remove(self, request):
        (self._waiting if request.deadline is None else self._hasty).remove(request)
        if request.number is not None:
            self._lock.leave(request.number)

    def is_empty(self):
        return not self._waiting and not self._hasty

    def close(self):
        self._lock.close()

    def advance(self):
        """The requests that came to an end, each with the open file that holds the lock, the error, or None for busy."""
        ended = [*self._admit(), *self._admit_hasty()]
        for request in self._waiting:
            if request.number is None:
                request.number = self._lock.draw()
            if request.number is None:
                break
        self._pause = _FIRST_LOOK if ended else min(self._pause * 1.5, _SELDOM)
        self.next_look = time.monotonic() + self._pause
        return ended

    def _admit(self):
        ended = []
        while self._waiting and (ending := self._try(self._waiting[0])) is not None:
            ended.append((self._waiting.pop(0), ending))
        return ended

    def _admit_hasty(self):
        """Who does not wait has no place in the line, so it gets in only when nobody else waits."""
        ended = []
        now = time.monotonic()
        for request in list(self._hasty):
            ending = None if self._waiting else self._try(request)
            if ending is not None or now >= request.deadline:
                self._hasty.remove(request)
                ended.append((request, ending))
        return ended

    def _try(self, request):
        try:
            return self._lock.enter(request.exclusive, request.number)
        except OSError as error:
            if request.number is not None:
                self._lock.leave(request.number)
            return error


def _reason(error):
    return error.strerror if error.filename is None else f"{error.strerror}: {error.filename}"
