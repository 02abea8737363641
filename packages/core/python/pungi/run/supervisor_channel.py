"""The worker's end of the pipes to its supervisor."""

import _signal
import _thread
import os
import signal

try:
    import resource
except ImportError:  # Windows
    resource = None

from . import frames, report


def _highest_descriptor():
    """The pipes are above the files that a script opens, whose numbers begin with 3; usually above the limit of the run, too."""
    if resource is None:
        return 1023
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return (1024 if most == resource.RLIM_INFINITY else min(most, 1024)) - 1


REPORT_FD = _highest_descriptor()
JOB_FD = REPORT_FD - 1
# The standard input that follows a run, until the job says whether it has one.
STDIN_FD = JOB_FD - 1
# Kept from before foreign code could replace them.
_getpid, _dumps = os.getpid, report.encode_json
_write, _read = frames.write_all, frames.read_frame
_mask, _SIGNALS = getattr(_signal, "pthread_sigmask", None), signal.valid_signals()
# Held from a message to its answer: threads of a script send displays, too.
exchange = _thread.RLock()


def say(kind, data):
    _write(REPORT_FD, frames.pack(kind, _dumps(data)))


def send_amid_script(data):
    """While foreign code runs. Waits until the supervisor has taken the message, and all output before it. No other thread, and no
    signal handler that raises, leaves half of a frame behind."""
    before = _mask(signal.SIG_BLOCK, _SIGNALS) if _mask is not None else None
    try:
        with exchange:
            _write(REPORT_FD, data)
            _read(JOB_FD)
    finally:
        if before is not None:
            _mask(signal.SIG_SETMASK, before)


def say_and_wait(data, worker):
    """Sends a message to the supervisor and waits for its answer; foreign code that closes the channel harms only itself."""
    if _getpid() != worker:
        return  # a child that foreign code forked and let run on to the end
    try:
        with exchange:
            _write(REPORT_FD, data)
            _read(JOB_FD)
    except OSError:
        pass
