"""A session: a worker that carries out one job after the other with the same variables, imports and files.

Between two jobs the supervisor stops every process of the session, so nothing of it runs. To interrupt a job it sends SIGINT, which
reaches the script only while the script runs.
"""

import json
import os
import signal

from ..calls.endings import flush_streams
from . import bursts, frames
from .supervisor_channel import JOB_FD, REPORT_FD, exchange

# Kept from before foreign code could replace them.
_signal, _flush_streams, _write, _read_frame = signal.signal, flush_streams, frames.write_all, frames.read_frame
_pack, _getpid, _exit, _loads = frames.pack, os.getpid, os._exit, json.loads


class Session:
    """Created with the first job."""

    def __init__(self, main_module):
        self.main = main_module
        self._calls = 1
        self._worker = _getpid()
        # What the script does on SIGINT, from one job to the next.
        self._handler = signal.default_int_handler
        _signal(signal.SIGINT, signal.SIG_IGN)

    @property
    def is_new(self):
        return self._calls == 1

    def path_for(self, path):
        """Every script keeps its file: tracebacks and inspect show functions of earlier jobs."""
        stem, extension = os.path.splitext(path)
        return path if self.is_new else f"{stem}_{self._calls}{extension}"

    def begin(self):
        """Can raise KeyboardInterrupt."""
        _signal(signal.SIGINT, self._handler)

    def end(self):
        """Returns an interrupt that came at the last moment, or None."""
        late = None
        while True:
            try:
                self._handler = _signal(signal.SIGINT, signal.SIG_IGN)
                return late
            except BaseException as error:  # that of a handler, which runs before it is replaced
                late = error

    def report(self, encoded):
        """Ends the job and waits for the next one; returns it, or None if there is none."""
        if _getpid() != self._worker:
            _exit(0)  # a child that foreign code forked and let run on to the end
        bursts.stop()
        _flush_streams(0)
        self._calls += 1
        with exchange:
            _write(REPORT_FD, _pack(frames.PAUSED, encoded))
            while (frame := _read_frame(JOB_FD)) is not None:
                kind, payload = frame
                if kind == frames.JOB:  # an interrupted display may have left its answer
                    return _loads(payload)
        return None
