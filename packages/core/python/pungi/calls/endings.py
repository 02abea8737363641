"""The end of a script: its exit status, its unflushed output, and its traceback without the frames of the runner."""

import sys


def exit_status(error):
    """Returns the exit status of `python` for this SystemExit."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    try:
        print(error.code, file=sys.stderr)
    except Exception:
        pass  # as the interpreter does
    return 1


def flush_streams(status, on_failure=None):
    """Flushes the streams and returns the exit status of `python`, which is 120 if a flush fails.

    `on_failure(stream, error)` is called for a failure of stdout."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:
            status = status or 120
            if on_failure is not None and stream is sys.stdout:
                on_failure(stream, error)
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except BaseException:
            pass  # closed or detached: nobody uses it any more
    return status


def leave_out_frames(details, is_own):
    """Removes frames of the runner from this exception and those that led to it. `is_own(filename)` recognizes them."""
    waiting, seen = [details], set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.stack[:] = [frame for frame in each.stack if not is_own(frame.filename)]
        waiting += [each.__cause__, each.__context__, *(getattr(each, "exceptions", None) or ())]
