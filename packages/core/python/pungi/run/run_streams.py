"""The connections of a supervisor during a run: the socket of the server, and the pipes of the worker.

Foreign code can reopen its ends of the pipes, drain or fill them, and the server may not read: the supervisor waits for none of them.
"""

import os
import select
import time

from . import frames
from .outbox import Outbox

_CHUNK, _FIRST_CHUNK = 65536, 4096
# Output waits this long for more, and as long for the first of it: a short run is then one message, and this process and the server wake
# once. While other callers wait for a worker, it waits longer.
_GATHERING_MS, _LONG_GATHERING_MS = 1, 10


class RunStreams:
    """Moves bytes between the connections, and knows the handler of each. The run that this is a part of (supervised_run.py) polls them,
    and defines `abandon` and `end_for`."""

    # The limits of the run, once it has begun.
    limits = None
    # Whether the server has not taken everything yet, and the events of its connection that are polled.
    _is_stalled, _polled = False, select.POLLIN
    # Whether output stays in its pipes: until the server reads again, or until more has gathered.
    _is_output_left = False
    # When a run that leaves this process no pause was first seen to have output that waits.
    _gathering_since = None
    _output_bytes = 0
    _chunk = _FIRST_CHUNK

    def __init__(self, station):
        self._station, self._server, self._outbox = station, station.server, station.outbox
        self._poller = select.poll()
        self._handlers = {}

    def _open_pipes(self, begin):
        """`begin`: forks a worker, which gets the other ends."""
        job_read, self._job_pipe = os.pipe()
        self._report_pipe, report_write = os.pipe()
        self._stdout, stdout_write = os.pipe()
        self._stderr, stderr_write = os.pipe()
        theirs = (job_read, report_write, stdout_write, stderr_write)
        stdin_read, _ = self._station.stdin()
        begin((*theirs, stdin_read))
        for fd in theirs:
            os.close(fd)
        for fd in (self._job_pipe, self._report_pipe, self._stdout, self._stderr):
            os.set_blocking(fd, False)
        self._to_worker = Outbox(self._job_pipe)

    def _close_pipes(self):
        for fd in (self._job_pipe, self._report_pipe, self._stdout, self._stderr):
            if fd != -1:
                os.close(fd)

    def _handle(self, fd, handler, events=select.POLLIN):
        self._handlers[fd] = handler
        self._poller.register(fd, events)

    def _forget(self, fd):
        self._poller.unregister(fd)
        del self._handlers[fd]

    # To the worker.

    def _tell_worker(self, data):
        """Bytes that do not fit into the worker's pipe wait until it reads: foreign code of packages may keep it from that."""
        self._to_worker.add(data)
        self._on_job_pipe()

    def _on_job_pipe(self):
        try:
            has_sent = self._to_worker.send()
        except OSError:
            has_sent = True  # it has ended
        if has_sent == (self._job_pipe in self._handlers):
            if has_sent:
                self._forget(self._job_pipe)
            else:
                self._handle(self._job_pipe, self._on_job_pipe, select.POLLOUT)
        if not has_sent or self._polled != select.POLLIN:
            self._poll_server()

    def _poll_server(self):
        """Files for a worker that does not read stay with the server."""
        polled = (0 if self._to_worker.is_full else select.POLLIN) | (select.POLLOUT if self._is_stalled else 0)
        if polled != self._polled:
            self._polled = polled
            self._poller.modify(self._server, polled)

    # To the server.

    def _send(self, kind, payload):
        self._outbox.add(frames.pack(kind, payload))
        if self._outbox.is_large:
            self._flush()

    def _flush(self):
        """Never waits for the server: if it does not read, output stays in its pipes and the run waits, not the supervisor."""
        try:
            is_stalled = not self._outbox.send()
        except OSError:
            self.abandon()
        if is_stalled != self._is_stalled:
            self._is_stalled = is_stalled
            self._poll_server()
        self._leave_output(self._outbox.is_full)

    def _wait_for_server(self):
        """No process of the run is left to be watched."""
        try:
            self._outbox.send_all()
        except OSError:
            self.abandon()

    def _is_gathering(self):
        """Whether output waits for more."""
        return (self._is_output_left or self._outbox) and not self._is_stalled

    def _gathering_ms(self):
        return _LONG_GATHERING_MS if self.limits is not None and self.limits["isHurried"] else _GATHERING_MS

    def _end_long_gathering(self):
        """While a run asks something without a pause, it never happens that nothing happens."""
        now = time.monotonic()
        if not self._is_gathering():
            self._gathering_since = None
        elif self._gathering_since is None:
            self._gathering_since = now
        elif (now - self._gathering_since) * 1000 > self._gathering_ms():
            self._gathering_since = None
            self._flush()

    # Output.

    def _on_stdout(self):
        self._relay(self._stdout, frames.STDOUT)

    def _on_stderr(self):
        self._relay(self._stderr, frames.STDERR)

    def _relay(self, fd, kind):
        data = self._read(fd)
        if not data:
            return self._forget(fd) if data is not None else None
        room = self.limits["outputHardBytes"] - self._output_bytes if self.limits else len(data)
        self._output_bytes += len(data)
        if room > 0:
            self._send(kind, data[:room])
        if len(data) > room:
            self.end_for("output")
        elif self._outbox and not self._is_stalled:
            self._leave_output(True)

    def _leave_output(self, is_left):
        if is_left != self._is_output_left:
            self._is_output_left = is_left
            for fd in self._open_outputs():
                self._poller.modify(fd, 0 if is_left else select.POLLIN)

    def _open_outputs(self):
        return [fd for fd in (self._stdout, self._stderr) if fd in self._handlers]

    def _take_output(self):
        """All that is in the pipes."""
        self._chunk = _CHUNK
        for fd in self._open_outputs():
            self._handlers[fd]()

    def _read(self, fd):
        """The contents of a pipe; empty at its end, None if there is nothing now."""
        try:
            data = os.read(fd, self._chunk)
        except BlockingIOError:
            return None
        if len(data) == self._chunk:
            self._chunk = _CHUNK  # there is more of it
        return data
