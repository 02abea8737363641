"""A session: a worker that carries out one job after the other with the same variables, imports and files.

Between two jobs the supervisor stops every process of the session, so nothing of it runs. A worker that waits for its next job can
be asked to fork: the copy waits, too, and goes on where it is (session_copies.py). To interrupt a job it sends SIGINT, which
reaches the script only while the script runs.
"""

import _signal as _plain_signal
import collections
import contextlib
import json
import linecache
import os
import signal
import sys

from ..calls.endings import flush_streams
from ..jail import system
from . import bursts, class_files, copied_state, fork_hooks, frames, last_output, orphan_fork
from .supervisor_channel import JOB_FD, REPORT_FD, exchange

_SIGNALS = signal.valid_signals()
# The handler of the other one is ours (last_output.py).
_OF_SCRIPT = [int(number) for number in _SIGNALS if number != last_output.SIGNAL]
# Exceptions that another thread raises in this one, and that the wait for the next job survives.
_MOST_LATE = 100
# Scripts whose files stay. Each takes time when files are listed, and when a session is copied.
_MOST_SCRIPTS, _REMOVED_AT_ONCE = 32, 16
# Kept from before foreign code could replace them.
# The module signal makes an enumeration's member of every number, which takes a tenth of a millisecond.
_mask = getattr(_plain_signal, "pthread_sigmask", lambda how, signals: ())
_signal, _getsignal, _IGNORE = _plain_signal.signal, _plain_signal.getsignal, _plain_signal.SIG_IGN
_DEFAULT_INTERRUPT = _plain_signal.default_int_handler
_siginterrupt, _restarts_calls = getattr(_plain_signal, "siginterrupt", None), system.restarts_calls if system.IS_LINUX else bool
_getframe = sys._getframe
_flush_streams, _write, _read = flush_streams, os.write, os.read
_pack, _getpid, _exit, _decode = frames.pack, os.getpid, os._exit, json.JSONDecoder().raw_decode
_open, _close, _unlink = os.open, os.close, os.unlink
_renew_main_thread = fork_hooks.renew_main_thread
_setsid, _chdir, _fork, _try_fork = getattr(os, "setsid", None), os.chdir, orphan_fork.fork, orphan_fork.try_fork


class Session:
    """Created with the first job."""

    def __init__(self, main_module):
        self.main = main_module
        self._calls = 1
        self._scripts = collections.deque()
        class_files.begin()
        self._worker = _getpid()
        # The folder of a copy, whose files come back under the same names.
        self._folder = None
        # The script's own handlers while there is no job, by signal; the signals that came meanwhile, and what takes note of them.
        self._handlers, self._waiting = {signal.SIGINT: signal.default_int_handler}, set()
        # The signals after which system calls go on: to set a handler changes that.
        self._restarting = set()
        self._note = lambda number, _: self._waiting.add(number)
        # The signals that the script blocks, and what was raised between two jobs.
        self._blocked, self._late = None, None
        self._has_begun = False
        _signal(signal.SIGINT, _IGNORE)

    @property
    def is_worker(self):
        """False in a process that the script forked."""
        return _getpid() == self._worker

    @property
    def is_new(self):
        return self._calls == 1

    def path_for(self, path):
        """Every script has its own file: tracebacks and inspect show functions of earlier jobs."""
        stem, extension = os.path.splitext(path)
        return path if self.is_new else f"{stem}_{self._calls}{extension}"

    def keep_script(self, path, source):
        """The files of the newest scripts stay. `source`: the bytes of this one."""
        if not self.is_new:  # the first has the name that the caller gave it
            self._scripts.append((path, source))
            if len(self._scripts) > _MOST_SCRIPTS + _REMOVED_AT_ONCE:  # most jobs do without this
                for _ in range(_REMOVED_AT_ONCE):
                    _remove_script(*self._scripts.popleft())

    def begin(self):
        """Can raise KeyboardInterrupt, and what handlers raise on signals that have waited."""
        self._has_begun = True
        for number, handler in self._handlers.items():
            if handler is not None:  # the script has set it with C code
                _signal(number, handler)
                if number in self._restarting:
                    _siginterrupt(number, False)
        self._handlers, self._restarting = {}, set()
        if self._blocked is not None:
            _mask(signal.SIG_SETMASK, self._blocked)
            self._blocked = None
        while self._waiting:
            number = self._waiting.pop()
            if callable(handler := _getsignal(number)):
                handler(number, _getframe())
        late, self._late = self._late, None
        if late is not None:
            raise late

    def end(self):
        """Returns an interrupt that came at the last moment, or None. Other signals wait for the next job."""
        if not self._has_begun:
            return None  # the script could not be compiled
        late, self._has_begun = None, False
        while True:
            try:
                if self._blocked is None:
                    self._blocked = _mask(signal.SIG_BLOCK, ())
                _mask(signal.SIG_BLOCK, _SIGNALS)
                self._put_off_handlers()
                return late
            except BaseException as error:  # that of a handler, which runs before it is replaced
                late = error

    def _put_off_handlers(self):
        """Other threads may take signals, and their handlers would run in this one. Where it is begun again, it goes on."""
        found = {number: handler for number in _OF_SCRIPT if callable(handler := _getsignal(number)) and handler is not self._note}
        self._handlers = {signal.SIGINT: _getsignal(signal.SIGINT)} | found | self._handlers
        self._restarting.update(number for number, handler in found.items() if handler is not _DEFAULT_INTERRUPT and _restarts_calls(number))
        for number in self._handlers:
            _signal(number, _IGNORE if number == signal.SIGINT else self._note)

    def report(self, encoded, is_call=True):
        """Ends the job and waits for the next one; returns it, or None if there is none. `is_call`: it has run code."""
        if _getpid() != self._worker:
            _exit(0)  # a child that foreign code forked and let run on to the end
        self._finish(bursts.stop)
        _flush_streams(0)
        self._calls += is_call
        with exchange:
            message = _pack(frames.PAUSED, encoded)
            while (frame := self._exchange(message)) is not None:
                kind, payload = frame
                self._go_back()
                if kind == frames.JOB:
                    self._folder = None
                    return _decode(payload.decode("utf-8", "surrogatepass"))[0]
                is_copy = self._split(is_trial=payload == b"trial")
                message = b"" if is_copy else _pack(frames.PAUSED, b"{}")
        return None

    def _exchange(self, message):
        sent, received = [], []
        self._finish(lambda: _send(message, sent))
        return self._finish(lambda: _receive(received))

    def _finish(self, step):
        """Other threads of the script may raise exceptions in this one: the step goes on where it was."""
        for _ in range(_MOST_LATE):
            try:
                return step()
            except BaseException as error:
                self._late = error
        return None

    def _split(self, is_trial):
        """Returns whether this is the copy. It is a child of the supervisor: the script's own calls of wait never see it."""
        state = copied_state.read()
        try:
            if not (_try_fork() if is_trial else _fork()):
                return False
        except OSError:
            return False
        try:
            _setsid()
            self._worker = _getpid()
            _renew_main_thread()
            self._folder = copied_state.restore(state)
        except BaseException:
            _exit(1)
        return True

    def _go_back(self):
        if self._folder is not None:
            with contextlib.suppress(OSError):
                _chdir(self._folder)


def _remove_script(path, source):
    """Unless the session has made something else of it. Its lines stay, for all but tracebacks that C code prints (before Python 3.13)."""
    try:
        file = _open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            is_same = _read(file, len(source) + 1) == source
        finally:
            _close(file)
        if is_same:
            _unlink(path)
            lines = source.decode("utf-8", "replace").splitlines()
            linecache.cache[path] = len(source), None, [f"{line}\n" for line in lines], path
    except Exception:
        pass  # it is gone, or foreign code has changed what this uses


def _send(data, sent):
    """`sent`: the sizes of the parts that were sent. Handlers run between two lines, and never within one call of C code."""
    while (done := sum(sent)) < len(data):
        sent.extend(map(_write, (REPORT_FD,), (data[done:],)))


def _receive(received):
    """`received`: the parts that came so far. Returns a job, or a request for a copy; None at the end. Reads nothing of what follows."""
    needed = 0
    while True:
        if (missing := needed - sum(map(len, received))) <= 0:
            found, needed = _find(b"".join(received))
            if found is not None:
                return found
            continue
        received.extend(map(_read, (JOB_FD,), (missing,)))
        if not received[-1]:
            return None


def _find(data):
    """The job or the request in the frames that these bytes begin with, or None and the size that is needed to find it."""
    at = 0
    while len(data) >= at + frames.HEAD_SIZE:
        length, kind = frames.HEAD.unpack_from(data, at)
        end = at + frames.HEAD_SIZE + length
        if kind in (frames.JOB, frames.COPY):  # an interrupted display may have left its answer before it
            return ((kind, data[at + frames.HEAD_SIZE : end]), end) if len(data) >= end else (None, end)
        at = end
    return None, at + frames.HEAD_SIZE
