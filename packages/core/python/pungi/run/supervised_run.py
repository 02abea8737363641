"""One worker of a supervisor: parks it, gives it one run, enforces the limits, ends it and reports the facts to the server."""

import json
import os
import select
import time

from ..jail.file_gate import FileGate
from ..limits import limits, watch
from ..limits.group_limits import GroupLimitKeeper
from ..limits.kernel_objects import KernelObjects
from . import display_gate, end_facts, frames, last_output, worker
from .artifacts import Artifacts
from .outbox import Outbox

# Until the server sends the largest size of a report.
_MAX_REPORT = 64 * 1024
_CHUNK = 65536
# Frames accepted from a run. The worker sends a few; more are foreign code, and cost the supervisor more than the run.
_MOST_FRAMES = 64
# Output waits this long for more: a short run is then one message, and the server wakes once.
_GATHERING_MS = 1
# A session gets this long to end its job by itself.
_INTERRUPT_SECONDS = 1.0
# The limits that end the job of a session, and not the session.
_INTERRUPTIBLE = ("timeout", "cpu", "output", "cancelled")
_REHEARSAL = b'{"timeoutMs": 30000, "cpuMs": 30000.5, "killedFor": null, "memoryMb": 512, "isKept": false}'


class SupervisedRun:
    def __init__(self, place, channel, is_hurried, port=None):
        """`port`: the run's connection to the network, if it has one."""
        # Whether another run may follow here, and whether a caller waits for it already.
        self.ended_well = self.is_hurried = False
        self._channel = channel
        self._box = place.box
        self._artifacts = Artifacts(place.box.work)
        self._group = place.group
        self._loopback = place.loopback
        self._port = port
        self._from_server = frames.FrameParser()
        self._from_worker = frames.FrameParser(_MAX_REPORT, display_gate.LARGEST)
        self._limits = None
        self._keeper = None
        self._killed_for = None
        # Why the job of a session was interrupted, and whether the session waits for its next job.
        self._interrupted_for, self._is_paused = None, False
        self._exit_status = None
        self._report = None
        self._has_summary = self._has_let_go = self._is_over = self._had_full_disk = False
        self._frames_taken = 0
        self._displays = display_gate.DisplayGate()
        self._closed = set()
        # The socket on which the run asks for locks, and for changes of its files.
        self._gate, self._keeper_of_files = None, place.files
        channel.setblocking(False)
        self._outbox = Outbox(channel.fileno())
        # Whether the server has not taken everything yet.
        self._is_stalled = False
        # Whether output stays in its pipes: until the server reads again, or until more has gathered.
        self._is_output_left = False
        self._output_bytes = 0
        self._spawn_worker(place, is_hurried)
        self._reaper = place.tier.reaper(self._worker, by_pidfd=place.gate is not None)
        self._glance = _glance_at(self._worker)
        self._objects = KernelObjects(place.tier.has_namespaces, place.loopback)

    def _spawn_worker(self, place, is_hurried):
        job_read, self._job_pipe = os.pipe()
        self._report_pipe, report_write = os.pipe()
        self._stdout, stdout_write = os.pipe()
        self._stderr, stderr_write = os.pipe()
        self._worker = os.fork()
        if self._worker == 0:
            worker.begin(place, is_hurried, job_read, report_write, stdout_write, stderr_write)
        for fd in (job_read, report_write, stdout_write, stderr_write):
            os.close(fd)
        # Foreign code can reopen its ends, drain them or fill them: the supervisor never waits for a pipe.
        for fd in (self._job_pipe, self._report_pipe, self._stdout, self._stderr):
            os.set_blocking(fd, False)
        self._to_worker = Outbox(self._job_pipe)
        self._poller = select.poll()
        self._handlers = {
            self._channel.fileno(): self._on_server,
            self._report_pipe: self._on_report,
            self._stdout: lambda: self._relay(self._stdout, frames.STDOUT),
            self._stderr: lambda: self._relay(self._stderr, frames.STDERR),
        }
        if hasattr(os, "pidfd_open"):
            self._pidfd = os.pidfd_open(self._worker)
            self._handlers[self._pidfd] = self._on_exit
        if place.gate is not None:
            self._handlers[place.gate.fd] = place.gate.answer
        for fd in self._handlers:
            self._poller.register(fd, select.POLLIN)

    def loop(self):
        while self._exit_status is None and not self._is_over:
            ready = self._poller.poll(self._patience())
            if self._outbox and not ready and not self._is_stalled:
                self._end_gathering()
            for fd, _ in ready:
                if fd in self._handlers and self._exit_status is None:
                    self._handlers[fd]()
            if self._keeper is not None and self._exit_status is None and not self._is_over and not self._is_paused:
                self._check_limits()
            if self._gate is not None and not self._is_over:
                self._gate.retry()
            if not hasattr(os, "pidfd_open"):
                self._on_exit()
        if (self._keeper is None or self._is_paused) and not self._is_over:
            self.abandon()  # a parked worker has died: nobody waits for an answer
        if not self._is_over:
            self._finish()

    def _patience(self):
        if self._outbox and not self._is_stalled:
            return _GATHERING_MS
        return None if self._keeper is None or self._is_paused else self._keeper.patience_ms()

    # Input.

    def _on_server(self):
        if self._is_stalled:
            self._flush()
        data = _read(self._channel.fileno())
        if data is None:
            return
        if not data:
            self.abandon()
        self._from_server.feed(data)
        for kind, payload in self._from_server.frames():
            if kind == frames.LIMITS:
                self._limits = json.loads(payload)
                self._from_worker.max_payload = self._limits["reportBytes"]
                self.is_hurried = self._limits["isHurried"]
            elif kind == frames.JOB:
                self._start(payload)
            elif kind == frames.WARM_UP:
                self._tell_worker(frames.pack(frames.WARM_UP))
            elif kind == frames.CANCEL:
                self._end_for("cancelled")

    def abandon(self):
        """The server is gone or no longer needs this supervisor."""
        self._reaper.kill_all()
        self._box.remove()
        os._exit(0)

    def _start(self, job):
        if self._is_paused:
            self._resume(job)
            return
        about = (self._limits, self._worker, self._reaper, self._box, self._objects)
        self._keeper = limits.LimitKeeper(*about) if self._group is None else GroupLimitKeeper(*about, self._group)
        self._tell_worker(frames.pack(frames.JOB, job))

    def _resume(self, job):
        """The next job of a session."""
        self._is_paused = self._has_let_go = self._had_full_disk = False
        self._report = self._interrupted_for = None
        self._displays = display_gate.DisplayGate()
        self._frames_taken = self._output_bytes = 0
        if self._group is not None:
            self._group.settle()
        self._keeper.renew(self._limits)
        self._reaper.continue_all()
        self._tell_worker(frames.pack(frames.JOB, job))

    def _pause(self, report):
        """The job of a session is over: nothing of the session runs until the next one."""
        ended = time.monotonic()
        self._reaper.stop_all()
        self._drain(self._stdout, self._stderr)
        self._report = report
        passed = self._keeper.check(at_once=True)
        if passed is not None and passed not in _INTERRUPTIBLE:
            self._stop(passed)
            return
        self._is_paused = True
        facts = {"killedFor": self._interrupted_for or passed, "held": None, "isKept": True, "status": None, "signal": None}
        facts["diskFull"] = self._has_full_disk(self._reaper.processes() if watch.HAS_PROC else ())
        self._answer(facts | end_facts.usage(ended, self._keeper, 0.0, 0, ended_well=True))

    def _tell_worker(self, data):
        """Bytes that do not fit into the worker's pipe wait until it reads: foreign code of packages may keep it from that."""
        self._to_worker.add(data)
        self._on_job_pipe()

    def _on_job_pipe(self):
        try:
            has_sent = self._to_worker.send()
        except OSError:
            has_sent = True  # it has ended
        if has_sent and self._job_pipe in self._handlers:
            self._forget(self._job_pipe)
        elif not has_sent and self._job_pipe not in self._handlers:
            self._handlers[self._job_pipe] = self._on_job_pipe
            self._poller.register(self._job_pipe, select.POLLOUT)

    def _on_report(self):
        data = _read(self._report_pipe)
        if not data:
            return self._forget(self._report_pipe) if data is not None else None
        self._from_worker.feed(data)
        try:
            for kind, payload in self._from_worker.frames():
                if kind == frames.DISPLAY:
                    self._take_display(payload)
                    continue
                self._count_frame()
                self._take(kind, payload)
                if self._is_over:
                    return None
        except ValueError:
            # Foreign code wrote to the channel. The content is not trusted; the end of the process decides. A process that
            # still writes must not wait for a reader, nor the worker for an answer to what was not read.
            self._report = None
            self._forget(self._report_pipe)
            self._closed.add(self._report_pipe)
            os.close(self._report_pipe)
            self._let_go()

    def _count_frame(self):
        """Not while the worker is parked, and not once the run has been stopped: the pipe then holds all there is."""
        if self._keeper is not None and self._killed_for is None:
            self._frames_taken += 1
            if self._frames_taken > _MOST_FRAMES:
                raise ValueError("too many frames")

    def _take(self, kind, payload):
        if kind == frames.PARKED and self._keeper is None:
            self._open_gate()
            if self._group is not None:
                self._group.settle()
            self._send(frames.PARKED, payload)
            self._flush()
            self._warm_up()
        elif kind == frames.SUMMARY and not self._has_summary:
            # Sent before foreign code runs: the first one is the worker's.
            self._has_summary = True
            self._send(frames.SUMMARY, payload)
        elif self._killed_for == "scope":
            return  # a refusal is reported, whatever else the run sent
        elif kind == frames.VIOLATION and self._keeper is not None and self._limits["isScoped"]:
            # From any process of the run: the run ends, even if a child broke the rule.
            self._report = payload
            self._stop("scope")
        elif kind == frames.REPORT and self._report is None:
            self._report = payload
        elif kind == frames.PAUSED and self._keeper is not None and self._limits.get("isKept") and not self._is_paused:
            self._pause(payload)
        elif self._has_let_go:
            return  # the worker asks once; more is foreign code that would keep us busy
        elif kind == frames.FINISHED:
            self._report = payload
            if passed := self._passed_at_end():
                self._stop(passed)
            elif not self._finish_early():
                self._let_go()
        elif kind == frames.TROUBLE:
            # The run failed. Check now, while all that it used is still held, whether a limit was the reason.
            self._check_limits(at_once=True)
            self._had_full_disk = self._has_full_disk(self._reaper.processes() if watch.HAS_PROC else ())
            self._let_go()

    def _take_display(self, payload):
        """Output that was written before a display is sent before it, so that the server knows its place. The worker waits for that."""
        if self._keeper is None:
            return
        if self._displays.admits(payload):
            for fd in (self._stdout, self._stderr):
                if fd in self._handlers and self._killed_for is None:
                    self._handlers[fd]()
            self._send(frames.DISPLAY, payload)
        if self._exit_status is None:
            self._tell_worker(frames.pack(frames.DISPLAY))

    def _open_gate(self):
        if self._gate is not None:
            return
        try:
            self._gate = FileGate(self._pidfd, self._box, self._keeper_of_files)
        except (OSError, AttributeError):
            return  # it has none
        self._handle(self._gate.fd, self._on_gate)
        if self._keeper_of_files is not None:
            self._handle(self._keeper_of_files.fileno(), self._on_keeper_of_files)

    def _handle(self, fd, handler):
        self._handlers[fd] = handler
        self._poller.register(fd, select.POLLIN)

    def _on_gate(self):
        if not self._gate.answer():
            self._forget(self._gate.fd)

    def _on_keeper_of_files(self):
        if not self._gate.pass_on():
            self._forget(self._keeper_of_files.fileno())

    def _passed_at_end(self):
        return "disk" if self._box.exceeds(self._limits["diskMb"]) else self._keeper.passed_at_end()

    def _warm_up(self):
        """The fork has made all our pages shared again: those that a run needs are copied now, while nobody waits."""
        parser = frames.FrameParser()
        parser.feed(frames.pack(frames.LIMITS, _REHEARSAL))
        for _, payload in parser.frames():
            json.dumps(json.loads(payload))
        self._look_closely()

    def _let_go(self):
        """The worker waits to be measured, or to be killed, before it ends by itself. It gets one answer: foreign code
        that asks without reading could otherwise fill the pipe and block the supervisor."""
        if self._has_let_go:
            return
        self._has_let_go = True
        self._tell_worker(frames.pack(frames.TROUBLE))

    def _relay(self, fd, kind):
        data = _read(fd)
        if not data:
            return self._forget(fd) if data is not None else None
        room = self._limits["outputHardBytes"] - self._output_bytes if self._limits else len(data)
        self._output_bytes += len(data)
        if room > 0:
            self._send(kind, data[:room])
        if len(data) > room:
            self._end_for("output")
        elif self._outbox and not self._is_stalled:
            self._leave_output(True)

    def _on_exit(self):
        self._exit_status = self._reaper.look()

    def _forget(self, fd):
        self._poller.unregister(fd)
        del self._handlers[fd]

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
            self._poller.modify(self._channel.fileno(), select.POLLIN | (select.POLLOUT if is_stalled else 0))
        self._leave_output(self._outbox.is_full)

    def _end_gathering(self):
        """Also sends what has arrived meanwhile: otherwise every line of many would wake this process, and the server."""
        for fd in (self._stdout, self._stderr):
            if fd in self._handlers and self._exit_status is None:
                self._handlers[fd]()
        self._flush()

    def _leave_output(self, is_left):
        if is_left != self._is_output_left:
            self._is_output_left = is_left
            for fd in {self._stdout, self._stderr} & self._handlers.keys():
                self._poller.modify(fd, 0 if is_left else select.POLLIN)

    # The end.

    def _check_limits(self, at_once=False):
        if self._gate is not None:
            self._keeper.charged_ms = self._gate.cpu_ms
        passed = self._keeper.check(at_once)
        if passed is not None:
            self._end_for(passed)

    def _end_for(self, reason):
        """Ends the run. The job of a session is interrupted first: the session survives if the script ends by itself."""
        if self._keeper is None or not self._limits.get("isKept") or reason not in _INTERRUPTIBLE:
            self._stop(reason)
        elif self._interrupted_for is None:
            self._interrupted_for = reason
            self._keeper.grant(_INTERRUPT_SECONDS)
            self._reaper.interrupt()
        elif reason != "output":
            self._stop(self._interrupted_for)

    def _stop(self, reason):
        if self._killed_for is None:
            self._killed_for = reason
            if self._keeper is not None and reason in last_output.REASONS:
                output = () if self._outbox.is_full else {self._stdout, self._stderr} & self._handlers.keys()
                last_output.wait_for(self._reaper, {fd: self._handlers[fd] for fd in output})
        self._reaper.kill_all()
        self._exit_status = self._reaper.worker_status

    def _finish_early(self):
        """The usual end: one process, no failure. Its figures are taken and it is killed; only then is it waited for.

        Tearing down a large process costs milliseconds in which nothing of it runs any more and a caller waits.
        """
        ended = time.monotonic()
        figures = None if self._keeper.saw_others else self._look_closely()
        if figures is None:
            return False
        self._reaper.signal_all()
        self._drain(self._stdout, self._stderr)
        facts = {"killedFor": self._killed_for, "status": 0, "signal": None}
        facts |= end_facts.usage(ended, self._keeper, *figures, ended_well=self._killed_for is None)
        self._answer(facts)
        self._reaper.kill_all()
        self._leave(ended_well=self._killed_for is None)
        self._wait_for_server()
        return True

    def _look_closely(self):
        if self._glance is None:
            return None
        try:
            return self._glance.read()
        except OSError:
            return None  # it did not wait to be measured

    def _leave(self, ended_well):
        """No process of the run is alive any more: the supervisor can take the next run."""
        if self._port is not None:
            self._port.close()
        has_talked = self._loopback is not None and self._loopback.was_used()
        is_settled = self._gate is None or self._gate.settle()
        self.ended_well = ended_well and self._box.can_be_reset and not has_talked and is_settled
        self._is_over = True
        if self.ended_well:
            self._box.reset()
        else:
            self._box.remove()
        fds = {self._job_pipe, self._report_pipe, self._stdout, self._stderr, getattr(self, "_pidfd", -1)}
        for fd in fds - self._closed - {-1}:
            os.close(fd)
        self._handlers.clear()
        self._objects.close()
        if self._gate is not None:
            self._gate.close()
        if self._glance is not None:
            self._glance.close()

    def _drain(self, *fds):
        """Takes what the run wrote before its end. No process can write any more, so this ends."""
        pipes = select.poll()
        for fd in fds:
            if fd in self._handlers:
                pipes.register(fd, select.POLLIN)
        while self._killed_for != "output" and (ready := pipes.poll(0)):
            for fd, _ in ready:
                self._handlers[fd]()
                if fd not in self._handlers:
                    pipes.unregister(fd)

    def _answer(self, facts):
        if self._killed_for != "scope":
            self._send_files()
        if self._displays.dropped:
            self._outbox.add(frames.pack(frames.DISPLAY, self._displays.report()))
        if self._report is not None:
            self._outbox.add(frames.pack(frames.REPORT, self._report))
        self._outbox.add(frames.pack(frames.END, json.dumps(facts).encode()))
        self._flush()

    def _send_files(self):
        """Nothing of the run is active, so waiting for the server keeps nobody from being watched."""
        try:
            for payload in self._artifacts.collect(self._limits):
                self._outbox.add(frames.pack(frames.FILE, payload))
                if self._outbox.is_full:
                    self._wait_for_server()
        except OSError:
            return  # the folder is gone, or unreadable

    def _wait_for_server(self):
        """No process of the run is left to be watched."""
        try:
            self._outbox.send_all()
        except OSError:
            self.abandon()

    def _finish(self):
        ended = time.monotonic()
        self._reaper.kill_all()
        self._has_let_go = True
        self._drain(self._stdout, self._stderr, self._report_pipe)
        facts = self._facts(ended)
        self._answer(facts)
        self._leave(ended_well=facts["killedFor"] is None and facts["signal"] is None)
        self._wait_for_server()

    def _facts(self, ended):
        exit_code = os.waitstatus_to_exitcode(self._exit_status)
        return end_facts.describe(
            exit_code, self._killed_for or self._interrupted_for, ended, self._keeper, self._limits, (self._reaper.cpu_ms, self._reaper.peak),
            lambda has_failed: self._had_full_disk or (has_failed and self._has_full_disk()),
        )

    def _has_full_disk(self, pids=()):
        return self._box.is_full(self._limits["diskMb"], pids)


def _glance_at(worker):
    """None if /proc does not show it: then it is waited for."""
    try:
        return watch.Glance(worker)
    except OSError:
        return None


def _read(fd):
    """The contents of a pipe; empty at its end, None if there is nothing now."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
