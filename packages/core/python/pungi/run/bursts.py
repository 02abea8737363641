"""Many lines at once are written in blocks, as plain Python writes to a pipe; few lines arrive one by one.

stdout is line buffered and counts its lines. When many come fast, it is switched to block buffering, and a thread flushes it every
few milliseconds, so that the end of a burst arrives promptly, too. When little comes, the thread switches back and ends: outside of
a burst there is none.

A burst needs a process with one thread and no children, and ends before the script starts any: a text stream is not safe to use by
several threads, its lines come before those of a child process, and no forked child inherits unwritten text.

Foreign code can break this, for itself. Nothing outside of the process relies on it.
"""

import _thread
import contextlib
import functools
import io
import os
import signal
import sys
import time
from itertools import chain, repeat, starmap

from ..jail import system

with contextlib.suppress(ImportError):  # on Windows
    import _posixsubprocess  # noqa: F401 — before the script imports subprocess, which copies its function

# A burst begins with this many lines within this many seconds, twice in a row.
_LINES, _SECONDS = 500, 0.025
# The thread flushes with this pause, and ends after this many flushes that found less than a block.
_PAUSE, _CALM_LOOKS = 0.01, 3
# The longest wait for the thread, which may wait for the pipe.
_PATIENCE = 1.0
_TASKS = "/proc/self/task"
# Functions that start processes and threads, by module. Each interpreter has some of them. An audit hook would see them all, but could
# not be removed, and makes `copy.deepcopy` take twice as long.
_STARTERS = {
    "os": ("system", "posix_spawn", "posix_spawnp", "execv", "execve", "kill", "killpg"),
    "subprocess": ("_fork_exec",),
    "threading": ("_start_new_thread", "_start_joinable_thread"),
    "_posixsubprocess": ("fork_exec",),
    "_thread": ("start_new_thread", "start_joinable_thread"),
}
_SIGNALS = signal.valid_signals()
# Kept from before foreign code could replace them.
_flush, _reconfigure, _mask = io.TextIOWrapper.flush, io.TextIOWrapper.reconfigure, getattr(signal, "pthread_sigmask", None)
_monotonic, _sleep, _getpid, _stat = time.monotonic, time.sleep, os.getpid, os.stat
_start_thread, _thread_id, _count_threads, _lock = _thread.start_new_thread, _thread.get_native_id, _thread._count, _thread.allocate_lock

_counter = None


def prepare(stdout, stderr):
    """In the worker, or in its template."""
    global _counter
    # Other systems do not show when a thread has ended; and a former run may have detached a stream.
    if not system.IS_LINUX or stdout.buffer is None or stderr.buffer is None:
        return
    if _counter is None:
        os.register_at_fork(before=stop)
    _counter = _LineCounter(stdout, stderr)


def watch(most_tasks):
    """In the worker, before the script begins. `most_tasks`: processes and threads that the run may have."""
    if _counter is not None:
        _counter.watch(most_tasks)


def close():
    """Writes everything, line by line from now on."""
    if _counter is not None:
        _counter.close()


def stop():
    """Ends a burst; the next lines are written one by one."""
    if _counter is not None:
        _counter.stop()


class _LineCounter:
    def __init__(self, stdout, stderr):
        self._stdout, self._buffer = stdout, stdout.buffer
        self._flush = stdout.buffer.flush
        self._raw, self._stderr_buffer = stdout.buffer.raw, stderr.buffer
        self._worker, self._most_tasks = None, 0
        self._counted_at = float("-inf")
        self._burst = self._closed = None
        self.count()

    def watch(self, most_tasks):
        self._worker, self._most_tasks = _getpid(), most_tasks

    def count(self):
        """Puts a counter in the place where the text layer flushes after each line.

        It is C code alone: a line costs 50 ns more, and neither tracebacks nor the recursion limit show a frame of ours."""
        lines = starmap(self._flush, repeat((), _LINES))
        self._buffer.flush = chain(lines, starmap(self._on_many_lines, repeat(()))).__next__

    def stop(self):
        """Ends the burst."""
        burst, self._burst = self._burst, None
        if burst is not None:
            burst.stop()

    def close(self):
        self.stop()
        self._closed = vars(self._buffer).pop("flush", None)  # to take it down would only take time

    def _on_many_lines(self):
        self.count()
        self._flush()
        before, self._counted_at = self._counted_at, _monotonic()
        if self._counted_at - before < _SECONDS and self._can_begin():
            self._begin()

    def _can_begin(self):
        try:
            stream = self._stdout
            is_ours = stream.buffer is self._buffer and stream.line_buffering and not stream.write_through and "flush" not in vars(stream)
            is_alone = _count_threads() == 0 and _getpid() == self._worker and not _has_children()
            return is_ours and is_alone and 2 * _count_tasks() <= self._most_tasks
        except (OSError, ValueError):
            return False  # the stream is detached

    def _begin(self):
        mask = _mask(signal.SIG_BLOCK, ())
        try:
            # The thread must not take the script's signals, and no signal handler may raise half-way.
            _mask(signal.SIG_BLOCK, _SIGNALS)
            self._burst = _Burst(self, self._stdout, self._buffer, self._raw, self._stderr_buffer)
        except RuntimeError:
            pass  # no thread can be started
        finally:
            _mask(signal.SIG_SETMASK, mask)


class _Burst:
    def __init__(self, counter, stdout, buffer, raw, stderr_buffer):
        self._counter, self._stdout, self._buffer, self._raw = counter, stdout, buffer, raw
        self._stderr_buffer, self._flush_stderr = stderr_buffer, stderr_buffer.flush
        self._thread = None
        self._starters = [*_find_starters()]
        self._stopping, self._ended = _lock(), _lock()
        self._stopping.acquire()
        self._ended.acquire()
        self._blocks = functools.lru_cache(maxsize=0)(self._raw.write)  # counts its calls
        try:
            self._enter()
            _start_thread(self._send, ())
        except BaseException:
            self._leave()
            raise

    def stop(self):
        try:
            _flush(self._stdout)
        except RuntimeError:
            return  # a signal handler stops us amid a write, which the thread may wait for
        except (OSError, ValueError):
            pass  # closed or detached
        self._stopping.release()
        if self._ended.acquire(timeout=_PATIENCE):
            self._wait_for_thread()

    def _enter(self):
        self._raw.write = self._blocks
        self._stderr_buffer.flush = self._flush_both
        for module, name, call in self._starters:
            setattr(module, name, self._stopping_first(call))
        vars(self._buffer).pop("flush", None)
        _reconfigure(self._stdout, line_buffering=False)

    def _leave(self):
        vars(self._raw).pop("write", None)
        vars(self._stderr_buffer).pop("flush", None)
        for starter in self._starters:
            setattr(*starter)
        if not self._stdout.line_buffering:  # else the script has taken over
            self._counter.count()
            _reconfigure(self._stdout, line_buffering=True)
            _flush(self._stdout)  # what came meanwhile

    def _send(self):
        """The thread."""
        self._thread = _thread_id()
        calm = blocks = 0
        try:
            while calm < _CALM_LOOKS and _count_threads() == 1 and not self._stopping.acquire(timeout=_PAUSE):
                _flush(self._stdout)
                before, blocks = blocks, self._blocks.cache_info().misses
                calm = calm + 1 if blocks - before <= 1 else 0  # one may be that of this flush
            self._leave()
        except Exception:
            pass  # closed, detached or tampered with
        finally:
            self._ended.release()

    def _flush_both(self):
        """Replaces flushing stderr: earlier output of stdout comes first."""
        with contextlib.suppress(Exception):
            _flush(self._stdout)
        self._flush_stderr()

    def _stopping_first(self, call):
        @functools.wraps(call)
        def start(*arguments, **options):
            self._counter.stop()
            return call(*arguments, **options)

        return start

    def _wait_for_thread(self):
        """Waits until the kernel no longer counts the thread; the interpreter counts like this when it warns of forks with threads."""
        until = _monotonic() + _PATIENCE
        with contextlib.suppress(OSError):
            while _stat(f"{_TASKS}/{self._thread}") and _monotonic() < until:
                _sleep(0.00002)


def _find_starters():
    for module, names in _STARTERS.items():
        module = sys.modules.get(module)
        yield from ((module, name, getattr(module, name)) for name in names if hasattr(module, name))


def _count_tasks():
    return _stat(_TASKS).st_nlink - 2


def _has_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
