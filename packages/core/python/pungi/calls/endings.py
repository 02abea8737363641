"""How a script ends: its status, what it has printed and not yet sent, its traceback without the frames of whoever runs it."""

import sys


def exit_status(error):
    """The status that `python` would end with for this SystemExit."""
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
    """The status that `python` would end with after this: another where what was printed cannot be sent.

    `on_failure(stream, error)` is called where that is stdout."""
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
    """Of this exception and of those that led to it. `is_own` says of a file name whether it is that of the runner."""
    waiting, seen = [details], set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.stack[:] = [frame for frame in each.stack if not is_own(frame.filename)]
        waiting += [each.__cause__, each.__context__, *(getattr(each, "exceptions", None) or ())]
