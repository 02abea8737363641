"""The channel to the client: one message per line, and nothing else."""

import os
import sys

from .json_rpc import encode_message


class ClientGone(Exception):
    """The client no longer reads."""


class Channel:
    def __init__(self, descriptor):
        import threading

        self._descriptor = descriptor
        self._lock = threading.Lock()
        self.is_closed = False

    def send(self, message):
        data = memoryview(encode_message(message) + b"\n")
        with self._lock:
            try:
                while data and not self.is_closed:
                    data = data[os.write(self._descriptor, data):]
            except OSError:
                self.is_closed = True
        if self.is_closed:
            raise ClientGone

    def has_reader(self):
        """False if the client has closed its end, or is gone. Windows does not say so before something is written."""
        import select

        if self.is_closed or not hasattr(select, "poll"):
            return not self.is_closed
        poll = select.poll()
        poll.register(self._descriptor, 0)
        return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})


def take_standard_output():
    """The descriptor of the channel. All other output to standard output, of any code, goes to standard error."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return descriptor
