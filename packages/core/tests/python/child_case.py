"""A real process to look at, for tests."""

import os
import signal


class Child:
    """A forked process that does something, says so, and stays until the end of the test."""

    def __init__(self, test, what=lambda: None, inherits=True):
        """`inherits`: the descriptors that the tests have open."""
        ready, is_ready = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for first, last in () if inherits else ((3, is_ready), (is_ready + 1, 4096)):
                os.closerange(first, last)
            kept = what()
            os.write(is_ready, b"1")
            while kept is not ...:
                signal.pause()
        os.close(is_ready)
        os.read(ready, 1)
        os.close(ready)
        test.addCleanup(self.end)

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
