"""One worker of a supervisor: parks it, gives it one run, enforces the limits, ends it and reports the facts to the server."""

import contextlib
import functools
import json
import os
import select
import time

from ..jail import file_gate
from ..limits import limits, watch
from ..limits.glance import glance_at
from ..limits.group_limits import GroupLimitKeeper
from ..limits.kernel_objects import KernelObjects
from . import display_gate, end_facts, frames, inputs, last_output, worker
from .artifacts import Artifacts
from .run_streams import RunStreams

# Until the server sends the largest size of a report.
_MAX_REPORT = 64 * 1024
_CHUNK = 65536
# Frames accepted from a run. The worker sends a few; more are foreign code, and cost the supervisor more than the run.
_MOST_FRAMES = 64
_REHEARSAL = b'{"timeoutMs": 30000, "cpuMs": 30000.5, "killedFor": null, "memoryMb": 512, "isKept": false}'
_HAS_PIDFDS = hasattr(os, "pidfd_open")


class SupervisedRun(RunStreams):
    # Whether another run may follow here, and whether a caller waits for it already.
    ended_well = is_hurried = False
    _keeper = _killed_for = _exit_status = _report = _displays = None
    # Files of the job that have not come yet, and its standard input, if it comes while the run goes on.
    _awaited, _live_stdin, _stdin = (), None, -1
    _has_summary = _has_let_go = _is_over = _had_full_disk = False
    _frames_taken = 0
    # Whether it is a session that waits for its next job (supervised_session.py), and copies of it.
    _is_paused, _copies = False, None
    # The socket on which the run asks for locks, and for changes of its files.
    _gate = None
    _pidfd = -1

    def __init__(self, station, is_hurried, port=None):
        """`port`: the run's connection to the network, if it has one."""
        super().__init__(station)
        place = station.place
        self._box, self._group, self._template, self._loopback = place.box, place.group, place.template, place.loopback
        self._port = port
        self._from_server = frames.FrameParser()
        self._from_worker = frames.FrameParser(_MAX_REPORT, display_gate.LARGEST)
        self._open_pipes(lambda pipes: self._fork(place, is_hurried, pipes))
        self._handle(self._server, self._on_server)
        self._handle(self._report_pipe, self._on_report)
        self._handle(self._stdout, self._on_stdout)
        self._handle(self._stderr, self._on_stderr)
        if _HAS_PIDFDS:
            self._pidfd = os.pidfd_open(self.worker)
            self._handle(self._pidfd, self._on_exit)
        if place.gate is not None:
            self._handle(place.gate.fd, place.gate.answer)
        # A worker of a template is ready to run when it is forked, unless it warms up first.
        self._is_parked_at_once = is_hurried and self._template is not None
        self._reaper = place.tier.reaper(self.worker, by_pidfd=place.gate is not None, template=self._template)
        self._reaper.glance = self._glance = glance_at(self.worker, self._template, self._group)
        self._objects = KernelObjects(place.tier.has_namespaces, self._loopback)

    def _fork(self, place, is_hurried, pipes):
        self.worker = os.fork() if place.template is None else place.template.fork(is_hurried, *pipes)
        if self.worker == 0:
            worker.begin(place, is_hurried, pipes)

    @functools.cached_property
    def artifacts(self):
        return Artifacts(self._box.work, self._box.temporary)

    def loop(self):
        if self._is_parked_at_once:
            self._take_parked(self._template.parked)
        self._serve()
        self._go_on_in_copies()
        if not self._is_over and not self._has_job():
            self.abandon()  # a parked worker has died: nobody waits for an answer
        if not self._is_over:
            self._finish()
        if self._awaited or self._live_stdin is not None:
            self._drop_inputs()

    def _go_on_in_copies(self):
        """Only a session has any."""

    def _has_job(self):
        return self._keeper is not None and not self._is_paused

    def _serve(self):
        while self._exit_status is None and not self._is_over:
            ready = self._poller.poll(self._patience())
            if not ready:
                self._on_nothing()
            for fd, _ in ready:
                if fd in self._handlers and self._exit_status is None:
                    self._handlers[fd]()
            if self._exit_status is None and not self._is_over:
                if self._has_job():
                    self._check_limits()
                if self._gate is not None:
                    self._gate.retry()
            if not _HAS_PIDFDS:
                self._on_exit()

    def _patience(self):
        """Returns how long to wait until something happens, in milliseconds."""
        if self._is_gathering():
            return self._gathering_ms()
        return self._keeper.patience_ms() if self._has_job() else self._patience_between_jobs()

    def _patience_between_jobs(self):
        return None

    def _on_nothing(self):
        if self._is_gathering():
            self._flush()

    # What the server sends.

    def _on_server(self):
        if self._is_stalled:
            self._flush()
        data = self._read(self._server)
        if data is None:
            return
        if not data:
            self.abandon()
        self._from_server.feed(data)
        for kind, payload in self._from_server.frames():
            self._obey(kind, payload)

    def _obey(self, kind, payload):
        if kind == frames.LIMITS:
            self.limits = self._station.limits_from(payload)
            self._from_worker.max_payload = self.limits["reportBytes"]
            self.is_hurried = self.limits["isHurried"]
        elif kind == frames.JOB:
            self._awaited = inputs.Awaited(self.limits) if self.limits.get("sources") else ()
            self._start(payload)
        elif kind == frames.INPUT and self._awaited:
            self._awaited.take(payload)
            self._tell_worker(frames.pack(frames.INPUT, payload))
        elif kind == frames.STDIN and self._live_stdin is not None and self._stdin != -1:
            self._live_stdin.take(payload)
            self._on_stdin()
        elif kind == frames.WARM_UP:
            self._tell_worker(frames.pack(frames.WARM_UP))
        elif kind == frames.CANCEL and self._has_job():
            self.end_for("cancelled")  # else the run that it was meant for has ended
        elif kind == frames.COPY and self._copies is not None:
            self._copies.take_order(json.loads(payload), self._is_paused)

    def abandon(self):
        """The server is gone or no longer needs this supervisor."""
        self._reaper.kill_all()
        self._box.remove()
        os._exit(0)

    def _start(self, job):
        about = (self.limits, self.worker, self._reaper, self._box, self._objects)
        self._keeper = limits.LimitKeeper(*about) if self._group is None else GroupLimitKeeper(*about, self._group)
        self._tell_worker(frames.pack(frames.JOB, job))
        self._leave_output(True)
        if self.limits.get("liveStdin"):
            self._stdin = self._station.use_stdin()
            self._live_stdin = inputs.LiveStdin(self._stdin)
            self._on_stdin()

    def _on_stdin(self):
        """One piece at a time: the server sends the next one when the run has room for it."""
        state = self._live_stdin.send()
        if state == "full" and self._stdin not in self._handlers:
            self._handle(self._stdin, self._on_stdin, select.POLLOUT)
        elif state != "full" and self._stdin in self._handlers:
            self._forget(self._stdin)
        if state == "empty":
            self._send(frames.WANTED, b"")
            self._flush()
        elif state == "ended":
            self._close_stdin()

    def _close_stdin(self):
        if self._stdin != -1:
            os.close(self._stdin)
            self._stdin = -1

    def _drop_inputs(self):
        """The run ended before all its files, or its standard input, had come. The server stops sending when it reads of the end, and
        hangs up; if we did so first, it might not read what we have sent."""
        channel = self._station.channel
        channel.setblocking(True)
        with contextlib.suppress(OSError):
            while channel.recv(_CHUNK):
                pass

    # What the worker sends.

    def _on_report(self):
        data = self._read(self._report_pipe)
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
            os.close(self._report_pipe)
            self._report_pipe = -1
            self._let_go()

    def _count_frame(self):
        """Not while the worker is parked, and not once the run has been stopped: the pipe then holds all there is."""
        if self._keeper is not None and self._killed_for is None:
            self._frames_taken += 1
            if self._frames_taken > _MOST_FRAMES:
                raise ValueError("too many frames")

    def _take(self, kind, payload):
        if kind == frames.PARKED and self._keeper is None:
            self._take_parked(frames.pack(kind, payload))
            if self._template is None:
                self._warm_up()
        elif kind == frames.SUMMARY and not self._has_summary:
            # Sent before foreign code runs: the first one is the worker's.
            self._has_summary = True
            self._send(frames.SUMMARY, payload)
        elif self._killed_for == "scope":
            return  # a refusal is reported, whatever else the run sent
        elif kind == frames.VIOLATION and self._keeper is not None and self.limits["isScoped"]:
            # From any process of the run: the run ends, even if a child broke the rule.
            self._report = payload
            self._stop("scope")
        elif kind == frames.REPORT and self._report is None:
            self._report = payload
        elif kind == frames.PAUSED:
            self._take_pause(payload)
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
            self._had_full_disk = self._has_full_disk(living=True)
            self._let_go()

    def _take_pause(self, report):
        """Only a session waits for another job."""

    def _take_parked(self, frame):
        self._open_gate()
        if self._group is not None:
            self._group.settle()
        self._outbox.add(frame)
        self._flush()

    def _take_display(self, payload):
        """Output that was written before a display is sent before it, so that the server knows its place. The worker waits for that."""
        if self._keeper is None:
            return
        if self._displays is None:
            self._displays = display_gate.DisplayGate()
        if self._displays.admits(payload):
            if self._killed_for is None:
                self._take_output()
            self._send(frames.DISPLAY, payload)
        if self._exit_status is None:
            self._tell_worker(frames.pack(frames.DISPLAY))

    def _open_gate(self):
        if self._gate is not None:
            return
        try:
            self._gate = self._own_gate() if self._template is None else self._station.gate_of_template()
        except (OSError, AttributeError):
            return
        if self._gate is not None:
            self._handle(self._gate.fd, self._on_gate)
            if self._gate.keeper is not None:
                self._handle(self._gate.keeper.fileno(), self._on_keeper_of_files)

    def _own_gate(self):
        questions = file_gate.take_questions(self._pidfd)
        return file_gate.FileGate(questions, self._box, self._station.place.files)

    def _on_gate(self):
        if not self._gate.answer():
            self._forget(self._gate.fd)
        self._end_long_gathering()

    def _on_keeper_of_files(self):
        if not self._gate.pass_on():
            self._forget(self._station.place.files.fileno())

    def _passed_at_end(self):
        return "disk" if self._box.exceeds(self.limits["diskMb"]) else self._keeper.passed_at_end()

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

    def _on_exit(self):
        self._exit_status = self._reaper.look()

    # The end.

    def _check_limits(self, at_once=False):
        if self._gate is not None:
            self._keeper.charged_ms = self._gate.cpu_ms
        passed = self._keeper.check(at_once)
        if passed is not None:
            self.end_for(passed)

    def end_for(self, reason):
        """Ends the run."""
        self._stop(reason)

    def _stop(self, reason):
        if self._killed_for is None:
            self._killed_for = reason
            if self._keeper is not None and reason in last_output.REASONS:
                output = () if self._outbox.is_full else self._open_outputs()
                last_output.wait_for(self._reaper, {fd: self._handlers[fd] for fd in output})
        self._kill()

    def _kill(self):
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
        self._reaper.signal_worker()
        if not self._glance.is_alone():
            self._reaper.signal_all()
        self._drain(self._stdout, self._stderr)
        use = end_facts.usage(ended, self._keeper, *figures, ended_well=self._killed_for is None)
        if self._killed_for is None:
            self._send_end(end_facts.encode_good(use))
        else:
            self._answer({"killedFor": self._killed_for, "status": 0, "signal": None, **use})
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
        self.ended_well = self.ended_well and not self._awaited and self._live_stdin is None
        self._is_over = True
        if self.ended_well:
            self._box.reset()
        else:
            self._box.remove()
        self._close_pipes()
        self._close_stdin()
        if self._pidfd != -1:
            os.close(self._pidfd)
        self._handlers.clear()
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
        self._send_end(end_facts.encode(facts))

    def _send_end(self, facts):
        """After all that comes before it."""
        if self._killed_for != "scope":
            self._send_files()
        if self._displays is not None and self._displays.dropped:
            self._outbox.add(frames.pack(frames.DISPLAY, self._displays.report()))
        if self._report is not None:
            self._outbox.add(frames.pack(frames.REPORT, self._report))
        self._outbox.add(frames.pack(frames.END, facts))
        self._flush()

    def _send_files(self):
        """Nothing of the run is active, so waiting for the server keeps nobody from being watched."""
        try:
            for payload in self.artifacts.collect(self.limits, has_originals=self._displays is not None):
                self._outbox.add(frames.pack(frames.FILE, payload))
                if self._outbox.is_full:
                    self._wait_for_server()
        except OSError:
            return  # the folder is gone, or unreadable

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
            exit_code, self._reason(), ended, self._keeper, self.limits, (self._reaper.cpu_ms, self._reaper.peak),
            lambda has_failed: self._had_full_disk or (has_failed and self._has_full_disk()),
        )

    def _reason(self):
        """Why it was ended, if it was."""
        return self._killed_for

    def _has_full_disk(self, living=False):
        """`living`: processes may hold files that have no name any more."""
        return self._box.is_full(self.limits["diskMb"], self._reaper.processes if living and watch.HAS_PROC else tuple)
