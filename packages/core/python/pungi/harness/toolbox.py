"""The tools of a script: its context, its session, and functions that look things up, log and fail."""

import collections
import time
from json import dumps

from .failing import ABSENT, LONGEST_TEXT, current_line, describe_failure, is_flat, line_of
from .lookup import NothingThere, look_up
from .shown import cut, shown, text_of

_MOST_FAILURES = 100
_MOST_LOGS = 1000
# Half of it is for the first lines, half for the last.
_ROOM_FOR_LOGS = 200_000
_MOST_SESSION = 250_000


class _Logs:
    """Log lines within half of the limit."""

    def __init__(self):
        self.lines, self._room = collections.deque(), _ROOM_FOR_LOGS // 2

    def has_room(self, line):
        return len(self.lines) < _MOST_LOGS // 2 and self._room >= self._size(line)

    def add(self, line):
        self.lines.append(line)
        self._room -= self._size(line)

    def push(self, line):
        """Appends a line and drops the oldest to make room for it."""
        while self.lines and not self.has_room(line):
            self._room += self._size(self.lines.popleft())
        self.add(line)

    @staticmethod
    def _size(line):
        return len(line[1]) + 50


class Toolbox:
    def __init__(self, context, filename):
        self.context = {"request": None, "response": None, "metadata": {}, "session": {}, **context}
        self.session = self.context["session"]
        self.failures, self._more_failures = [], 0
        self._first_logs, self._last_logs, self._logged = _Logs(), _Logs(), 0
        self._filename = filename
        self._before = {key: dumps(value) for key, value in self.session.items()}
        self._began = time.perf_counter()

    def names(self):
        return {each.__name__: each for each in (self.log, self.get, self.fail, self.expect)} | {
            "context": self.context,
            "session": self.session,
        }

    def log(self, level, message=ABSENT):
        """log(level, message), or log(message)."""
        if message is ABSENT:
            level, message = "info", level
        elapsed = round((time.perf_counter() - self._began) * 1000, 3)
        line = [cut(text_of(level), 20).lower(), cut(text_of(message), LONGEST_TEXT), elapsed]
        self._logged += 1
        if self._first_logs.has_room(line) and not self._last_logs.lines:
            self._first_logs.add(line)
        else:
            self._last_logs.push(line)

    def reported_logs(self):
        """The first and the last lines, with a line between them that counts those left out."""
        first, last = self._first_logs.lines, self._last_logs.lines
        left = self._logged - len(first) - len(last)
        mark = [["note", f"… {left} log lines are left out …", last[0][2]]] if left else []
        return [*first, *mark, *last]

    def get(self, path, default=ABSENT, within=None):
        """The value at a path such as "response.content[0].text", of the context unless `within` is given."""
        try:
            return look_up(self.context if within is None else within, path)
        except NothingThere as error:
            if default is not ABSENT:
                return default
            raise NothingThere(f"there is nothing at {path!r}: {error}") from None

    def fail(self, message, field=None, expected=ABSENT, actual=ABSENT):
        """Notes a failure and goes on, so that one run can report several."""
        self.add(message, field, expected, actual, current_line(self._filename))

    def expect(self, condition, message=None, field=None, expected=ABSENT, actual=ABSENT):
        """Notes a failure unless the condition holds. Returns whether it does."""
        if condition:
            return True
        line = current_line(self._filename)
        self.add(message or f"This does not hold: {line_of(self._filename, line) or 'expect'}", field, expected, actual, line)
        return False

    def add(self, message, field=None, expected=ABSENT, actual=ABSENT, line=None):
        if len(self.failures) < _MOST_FAILURES:
            self.failures.append(describe_failure(message, field, expected, actual, line))
        else:
            self._more_failures += 1

    def reported_failures(self):
        if not self._more_failures:
            return self.failures
        return [*self.failures, {"message": f"{self._more_failures} more failures are left out."}]

    def session_changes(self):
        """The variables that changed and those that are gone. No others, because other scripts may change the session meanwhile."""
        changed = {}
        for key, value in self.session.items():
            problem = "its name must be a text" if type(key) is not str else _not_kept(value) or _not_plain(key)
            if problem:
                self.add(f"The session variable {shown(key)} cannot be kept: {problem}")
            elif self._before.get(key) != dumps(value):
                changed[key] = value
        if len(dumps(changed)) > _MOST_SESSION:
            self.add(f"The session variables {', '.join(changed)} are together too large to be kept.")
            changed = {}
        return {"set": changed, "removed": [key for key in self._before if key not in self.session]}


def _not_kept(value):
    try:
        return _not_plain(value) or (None if is_flat(value) else "it is nested too deeply")
    except RecursionError:
        return "it holds itself, or is nested too deeply"


def _not_plain(value):
    """Why a value would not be the same in the next script; None if it would."""
    kind = type(value)
    if value is None or kind is bool:
        return None
    if kind is str:
        return None if value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value) else "half of a character is no text"
    if kind is int:
        return None if abs(value) <= 1 << 53 else "whole numbers beyond 2**53 are not exact as JSON"
    if kind is float:
        return None if value - value == 0 else f"JSON has no {value!r}"
    if kind is list:
        return next(filter(None, map(_not_plain, value)), None)
    if kind is dict:
        if not all(type(key) is str for key in value):
            return "keys must be texts"
        return next(filter(None, map(_not_plain, (*value, *value.values()))), None)
    return f"a {kind.__name__} is no plain data"
