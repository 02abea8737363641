"""The standard streams of a run, as `python main.py` has them with pipes behind them.

One difference is intended: stdout is written line by line, so that lines arrive while the run goes on, none is lost when it is
stopped, and the output of child processes comes in its natural place. Many lines at once are written in blocks (bursts.py).
"""

import contextlib
import io
import os
import sys

# As the interpreter chose them for its locale.
_ENCODING, _ERRORS = sys.__stdout__.encoding, sys.__stdout__.errors
_NULL_DEVICE = os.stat(os.devnull).st_rdev if os.name == "posix" else None

# stdout and stderr, as opened for runs.
outputs = []


def prepare():
    """In the fork server, for all workers to come: they only change what is behind the descriptors.

    A stream remembers whether it can seek, so these are opened on a pipe. A line goes through each, into that pipe: the first one makes the
    loader look up what writing needs."""
    behind = [os.dup(fd) for fd in (1, 2)]
    pipe = os.pipe()
    for fd in (1, 2):
        os.dup2(pipe[1], fd)
    outputs[:] = _open(1, "stdout", "w", _ERRORS, True), _open(2, "stderr", "w", "backslashreplace", True)
    for stream in outputs:
        print("line", file=stream)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = outputs
    open_stdin()
    for source, fd in zip(behind, (1, 2)):
        os.dup2(source, fd)
    for fd in (*behind, *pipe):
        os.close(fd)


def reopen():
    """For the next job of a session: an output that the last one closed or took away is there again."""
    for fd, name, errors in ((1, "stdout", _ERRORS), (2, "stderr", "backslashreplace")):
        with contextlib.suppress(OSError):  # the descriptor is closed
            if _is_gone(outputs[fd - 1]):
                outputs[fd - 1] = _open(fd, name, "w", errors, True)
                setattr(sys, f"__{name}__", outputs[fd - 1])
        if _is_gone(getattr(sys, name, None)):
            setattr(sys, name, outputs[fd - 1])


def _is_gone(stream):
    try:
        return stream is None or stream.closed is True
    except ValueError:
        return True  # detached
    except Exception:
        return False  # the script's own


def open_stdin():
    """Opens stdin anew, when descriptor 0 has changed."""
    sys.stdin = sys.__stdin__ = _open(0, "stdin", "r", _ERRORS, False)


def has_empty_stdin():
    """Whether stdin is one of ours, and there is nothing behind it."""
    try:
        is_ours = sys.stdin is sys.__stdin__ and type(sys.stdin) is io.TextIOWrapper and not sys.stdin.closed
        return is_ours and sys.stdin.name == "<stdin>" and os.fstat(0).st_rdev == _NULL_DEVICE
    except (OSError, ValueError):
        return False  # closed or detached


def _open(fd, name, mode, errors, line_buffering):
    binary = io.open(fd, f"{mode}b", closefd=False)
    binary.raw.name = f"<{name}>"
    stream = io.TextIOWrapper(binary, _ENCODING, errors, newline="\n", line_buffering=line_buffering)
    stream.mode = mode
    return stream
