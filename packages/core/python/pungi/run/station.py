"""The parts of a supervisor that stay from one run to the next: nothing that a run was given, has printed or could have changed."""

import json
import os

from ..jail import file_gate
from .outbox import Outbox


class Station:
    def __init__(self, place, channel):
        """`channel`: the connection to the server."""
        self.place, self.channel = place, channel
        channel.setblocking(False)
        self.server = channel.fileno()
        self.outbox = Outbox(self.server)
        self._gate = None
        self._unused_stdin = None
        # The limits of the last run, and as the server sent them: those of the next run are mostly the same.
        self._limits, self._limits_as_sent = None, None

    def limits_from(self, payload):
        if payload != self._limits_as_sent:
            self._limits, self._limits_as_sent = json.loads(payload), payload
            if self._limits.get("sources"):
                self._limits_as_sent = None  # what comes is noted among them
        return self._limits

    def stdin(self):
        """Returns both ends of a pipe. Its worker closes it before foreign code, or the run takes it (`use_stdin`)."""
        if self._unused_stdin is None:
            self._unused_stdin = os.pipe()
            os.set_blocking(self._unused_stdin[1], False)
        return self._unused_stdin

    def use_stdin(self):
        """Returns the end that the run is fed by."""
        (source, sink), self._unused_stdin = self._unused_stdin, None
        os.close(source)
        return sink

    def gate_of_template(self):
        """Returns the gate of all workers of the template, whose questions come by one descriptor. None if they ask nothing."""
        if self._gate is None and self.place.template.gate is not None:
            # A copy: a run may end the template, and goes on.
            self._gate = file_gate.FileGate(os.dup(self.place.template.gate), self.place.box, self.place.files)
        return self._gate
