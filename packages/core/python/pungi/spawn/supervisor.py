"""The supervisor of one interpreter: relays its output, enforces the limits of its run, ends all its processes, reports the end.

stdin: a line of settings, then frames of the server; its end ends the run. stdout: frames for the server. Threads read the
pipes, since not every system can wait for several of them at once.
"""

import contextlib
import json
import os
import queue
import sys
import threading
import time

from ..run import display_gate, end_facts, frames, last_output

_CHUNK = 65536
# The largest report until the server sends its limit, and the frames accepted from a run: more are foreign code.
_MAX_REPORT, _MOST_FRAMES = 64 * 1024, 64
# Chunks of output that wait for a server that does not read; beyond them the run waits.
_MOST_WAITING = 16
# Seconds in which the threads relay what was written before a display.
_OUTPUT_AHEAD = 0.003
# Characters of the output of an interpreter that did not start.
_LONGEST_COMPLAINT = 1000


def main():
    settings = json.loads(_read_line())
    server = Sender()
    try:
        tree = _start(settings)
    except OSError as error:
        server.send(frames.FAILED, f"{error}".encode())
        server.close()
        return
    try:
        Supervisor(tree, server).serve()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    tree.end()
    os._exit(1)


def _start(settings):
    if os.name == "nt":
        from .windows import WindowsTree

        return WindowsTree(settings)
    from .posix import PosixTree

    return PosixTree(settings)


def _read_line():
    """Reads a line without buffering: frames follow it."""
    line = bytearray()
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


class Sender:
    """Frames on their way to the server, or to the worker. Threads that relay wait while it does not read; the watch goes on."""

    def __init__(self, fd=1):
        self._fd = fd
        self._waiting = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def send(self, kind, payload):
        self._waiting.put(frames.pack(kind, payload))

    def close(self):
        """Returns once the server has taken everything, or has gone."""
        self._waiting.put(None)
        self._thread.join()

    def _write(self):
        is_open = True
        while (data := self._waiting.get()) is not None:
            try:
                if is_open:
                    frames.write_all(self._fd, data)
            except OSError:
                is_open = False


class Supervisor:
    def __init__(self, tree, server):
        """`tree`: the interpreter and all that it starts (posix.py, windows.py)."""
        self._tree, self._server, self._worker = tree, server, Sender(tree.job)
        self._events, self._has_begun = queue.SimpleQueue(), threading.Event()
        self._limits = self._keeper = None
        self._killed_for = self._report = self._exit_code = None
        self._has_summary = self._has_let_go = self._had_full_disk = False
        self._printed, self._counting = 0, threading.Lock()
        self._complaint = b""
        self._displays = display_gate.DisplayGate()

    def serve(self):
        self._follow(self._read_server)
        self._follow(self._wait_for_end)
        output = ((self._tree.stdout, frames.STDOUT), (self._tree.stderr, frames.STDERR))
        readers = [self._follow(self._read_report), *(self._follow(self._relay, *stream) for stream in output)]
        while self._exit_code is None:
            self._take_event()
            if self._exit_code is None:
                self._exit_code = self._tree.look()
            if self._keeper is not None and self._exit_code is None:
                self._check_limits()
        self._finish(readers)

    def _follow(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        return thread

    def _take_event(self):
        waits = [self._tree.look_every, None if self._keeper is None else self._keeper.patience_ms() / 1000]
        with contextlib.suppress(queue.Empty):
            handle, *arguments = self._events.get(timeout=min((wait for wait in waits if wait is not None), default=None))
            handle(*arguments)

    # The methods below run in threads.

    def _read_server(self):
        while (frame := frames.read_frame(0)) is not None:
            if frame[0] == frames.INPUT:
                self._has_begun.wait()
                self._worker.send(*frame)
            else:
                self._events.put((self._on_server, *frame))
        self._events.put((self._abandon,))

    def _wait_for_end(self):
        self._tree.wait()
        self._events.put((lambda: None,))

    def _read_report(self):
        parser, taken = frames.FrameParser(_MAX_REPORT, display_gate.LARGEST), 0
        try:
            while data := os.read(self._tree.report, _CHUNK):
                parser.max_payload = self._limits["reportBytes"] if self._limits else _MAX_REPORT
                parser.feed(data)
                for kind, payload in parser.frames():
                    if kind == frames.DISPLAY:
                        self._take_display(payload)
                        continue
                    taken += 1
                    if taken > _MOST_FRAMES:
                        raise ValueError("too many frames")
                    self._events.put((self._take, kind, payload))
        except ValueError:
            os.close(self._tree.report)  # a process that still writes must not wait for a reader
            self._events.put((self._distrust,))

    def _take_display(self, payload):
        if self._limits is not None and self._displays.admits(payload):
            time.sleep(_OUTPUT_AHEAD)
            self._server.send(frames.DISPLAY, payload)
        self._follow(self._tell_worker, frames.DISPLAY)

    def _relay(self, fd, kind):
        while data := os.read(fd, _CHUNK):
            if self._limits is None:
                self._complaint = (self._complaint + data)[-_LONGEST_COMPLAINT:]
                continue
            with self._counting:
                room = self._limits["outputHardBytes"] - self._printed
                self._printed += len(data)
            if room > 0:
                self._server.send(kind, data[:room])
            if len(data) > room:
                self._events.put((self._stop, "output"))
                return

    def _tell_worker(self, kind, payload=b""):
        with contextlib.suppress(OSError):  # it has ended
            frames.write_all(self._tree.job, frames.pack(kind, payload))

    # Input.

    def _on_server(self, kind, payload):
        if kind == frames.LIMITS:
            self._limits = json.loads(payload)
        elif kind == frames.JOB:
            self._keeper = self._tree.watch(self._limits)
            self._worker.send(frames.JOB, payload)
            self._has_begun.set()
        elif kind == frames.CANCEL:
            self._stop("cancelled")

    def _take(self, kind, payload):
        if kind in (frames.PARKED, frames.FAILED):
            if self._keeper is None:
                self._server.send(kind, payload)
        elif kind == frames.SUMMARY:
            if not self._has_summary:  # sent before foreign code runs: the first one is the worker's
                self._has_summary = True
                self._server.send(kind, payload)
        elif self._killed_for == "scope":
            return  # a refusal is reported, whatever else the run sent
        elif kind == frames.VIOLATION and self._keeper is not None and self._limits["isScoped"]:
            self._report = payload
            self._stop("scope")
        elif kind == frames.REPORT and self._report is None:
            self._report = payload
        elif kind == frames.FINISHED and not self._has_let_go:
            self._report = payload
            if self._tree.box.exceeds(self._limits["diskMb"]):
                self._stop("disk")
            self._let_go()
        elif kind == frames.TROUBLE and not self._has_let_go:
            # The run failed. Look now, while all that it used is still held, whether a limit was the reason.
            self._check_limits(at_once=True)
            self._had_full_disk = self._tree.is_full(self._limits["diskMb"])
            self._let_go()

    def _distrust(self):
        """Foreign code wrote to the channel. The content is not trusted; the end of the process decides."""
        self._report = None
        self._let_go()

    def _let_go(self):
        """The worker waits to be measured before it ends by itself. It gets one answer."""
        if not self._has_let_go:
            self._has_let_go = True
            self._follow(self._tell_worker, frames.TROUBLE)

    # The end.

    def _check_limits(self, at_once=False):
        if passed := self._keeper.check(at_once):
            self._stop(passed)

    def _stop(self, reason):
        if self._killed_for is None:
            self._killed_for = reason
            if self._keeper is not None and reason in last_output.REASONS:
                self._tree.ask_for_output()
        self._tree.end()
        self._exit_code = self._tree.look()

    def _finish(self, readers):
        ended = time.monotonic()
        self._tree.end()
        for reader in readers:
            reader.join(self._tree.pipes_end_within)
        self._has_let_go = True
        while not self._events.empty():
            handle, *arguments = self._events.get()
            if handle in (self._take, self._distrust):
                handle(*arguments)
        if self._keeper is None:
            self._server.send(frames.FAILED, self._why_not_started())
        else:
            self._answer(ended)
        self._server.close()
        self._leave()

    def _answer(self, ended):
        facts = end_facts.describe(
            self._exit_code, self._killed_for, ended, self._keeper, self._limits, self._tree.used,
            lambda has_failed: self._had_full_disk or (has_failed and self._tree.is_full(self._limits["diskMb"])),
        )
        if self._displays.dropped:
            self._server.send(frames.DISPLAY, self._displays.report())
        if self._report is not None:
            self._server.send(frames.REPORT, self._report)
        self._server.send(frames.END, json.dumps(facts).encode())

    def _why_not_started(self):
        *_, last = self._complaint.decode(errors="replace").strip().splitlines() or [""]
        return f"the interpreter {sys.executable} ended with status {self._exit_code} before it was ready: {last}".encode()

    def _abandon(self):
        """The server is gone or no longer needs this supervisor."""
        self._tree.end()
        self._leave()

    def _leave(self):
        """Ends without waiting for threads that read what nobody will write any more."""
        with contextlib.suppress(OSError):  # the server may have removed it
            self._tree.remove()
        os._exit(0)
