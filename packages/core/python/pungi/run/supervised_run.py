"""One worker of a supervisor: parks it, gives it one run, enforces the limits, ends it and reports the facts to the server."""

import contextlib
import json
import os
import select
import time

from ..jail import box_copies, file_gate
from ..limits import limits, watch
from ..limits.group_limits import GroupLimitKeeper
from ..limits.kernel_objects import KernelObjects
from . import display_gate, end_facts, frames, inputs, last_output, worker
from .artifacts import Artifacts
from .outbox import Outbox
from .session_copies import MAIN, SessionCopies, empty_pipe

# Until the server sends the largest size of a report.
_MAX_REPORT = 64 * 1024
_CHUNK = 65536
# Frames accepted from a run. The worker sends a few; more are foreign code, and cost the supervisor more than the run.
_MOST_FRAMES = 64
# Output waits this long for more: a short run is then one message, and the server wakes once.
_GATHERING_MS = 1
# A session gets this long to end its job by itself.
_INTERRUPT_SECONDS = 1.0
# Between two jobs nothing of a session may run.
_LOOK_AT_PAUSED_MS, _MOST_TIMES_AWAKE = 1000, 2
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
        self.artifacts = Artifacts(place.box.work, place.box.temporary)
        self._group = place.group
        self._loopback = place.loopback
        self._port = port
        self._from_server = frames.FrameParser()
        self._from_worker = frames.FrameParser(_MAX_REPORT, display_gate.LARGEST)
        self.limits = None
        self._awaited = inputs.Awaited({})
        self._live_stdin = None
        self._keeper = None
        self._killed_for = None
        # Why the job of a session was interrupted, and whether the session waits for its next job.
        self._interrupted_for, self._is_paused = None, False
        # Whether the use of a session that waits was looked at when it was stopped, and its cgroup is ready for the next job.
        self._is_counted = self._is_settled = False
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
        # Whether the server has not taken everything yet, and what of its connection is polled.
        self._is_stalled, self._polled = False, select.POLLIN
        # Whether output stays in its pipes: until the server reads again, or until more has gathered.
        self._is_output_left = False
        self._output_bytes = 0
        self._spawn_worker(place, is_hurried)
        self._template = place.template
        # A worker of a template is ready to run when it is forked, unless it warms up first.
        self._is_parked_at_once = is_hurried and place.template is not None
        self._reaper = place.tier.reaper(self.worker, by_pidfd=place.gate is not None, template=place.template)
        self._copies = SessionCopies(self, place.box, self._reaper, (self._job_pipe, self._report_pipe, self._stdout, self._stderr))
        self._reaper.glance = self._glance = _glance_at(self.worker, place.template)
        self._objects = KernelObjects(place.tier.has_namespaces, place.loopback)

    def _spawn_worker(self, place, is_hurried):
        job_read, self._job_pipe = os.pipe()
        self._report_pipe, report_write = os.pipe()
        self._stdout, stdout_write = os.pipe()
        self._stderr, stderr_write = os.pipe()
        stdin_read, self._stdin = os.pipe()
        pipes = (job_read, report_write, stdout_write, stderr_write, stdin_read)
        self.worker = os.fork() if place.template is None else place.template.fork(is_hurried, *pipes)
        if self.worker == 0:
            worker.begin(place, is_hurried, pipes)
        for fd in pipes:
            os.close(fd)
        # Foreign code can reopen its ends, drain them or fill them: the supervisor never waits for a pipe.
        for fd in (self._job_pipe, self._report_pipe, self._stdout, self._stderr, self._stdin):
            os.set_blocking(fd, False)
        self._to_worker = Outbox(self._job_pipe)
        self._poller = select.poll()
        self._handlers = {
            self._channel.fileno(): self._on_server,
            self._report_pipe: self._on_report,
            self._stdout: lambda: self._relay(self._stdout, frames.STDOUT),
            self._stderr: lambda: self._relay(self._stderr, frames.STDERR),
        }
        self._pidfd = -1
        if hasattr(os, "pidfd_open"):
            self._pidfd = os.pidfd_open(self.worker)
            self._handlers[self._pidfd] = self._on_exit
        if place.gate is not None:
            self._handlers[place.gate.fd] = place.gate.answer
        for fd in self._handlers:
            self._poller.register(fd, select.POLLIN)

    def loop(self):
        if self._is_parked_at_once:
            self._take_parked(self._template.parked)
        self._serve()
        while self._copies and not self._is_over and self._report_pipe not in self._closed:
            self._go_on_without_worker()
            self._serve()
        if (self._keeper is None or self._is_paused) and not self._is_over:
            self.abandon()  # a parked worker has died: nobody waits for an answer
        if not self._is_over:
            self._finish()
        if self._awaited or self._live_stdin is not None:
            self._drop_inputs()

    def _serve(self):
        while self._exit_status is None and not self._is_over:
            ready = self._poller.poll(self._patience())
            if self._is_paused and not ready:
                self._check_pause()
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

    def _patience(self):
        if self._outbox and not self._is_stalled:
            return _GATHERING_MS
        if self._is_paused:
            return _LOOK_AT_PAUSED_MS
        return None if self._keeper is None else self._keeper.patience_ms()

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
                self.limits = json.loads(payload)
                self._from_worker.max_payload = self.limits["reportBytes"]
                self.is_hurried = self.limits["isHurried"]
            elif kind == frames.JOB:
                self._awaited = inputs.Awaited(self.limits)
                self._start(payload)
            elif kind == frames.INPUT and self._awaited:
                self._awaited.take(payload)
                self._tell_worker(frames.pack(frames.INPUT, payload))
            elif kind == frames.STDIN and self._live_stdin is not None and self._stdin != -1:
                self._live_stdin.take(payload)
                self._on_stdin()
            elif kind == frames.WARM_UP:
                self._tell_worker(frames.pack(frames.WARM_UP))
            elif kind == frames.CANCEL and self._keeper is not None and not self._is_paused:
                self._end_for("cancelled")  # else the run that it was meant for has ended
            elif kind == frames.COPY:
                self._copies.take_order(json.loads(payload), self._is_paused)

    def abandon(self):
        """The server is gone or no longer needs this supervisor."""
        self._reaper.kill_all()
        self._box.remove()
        os._exit(0)

    def _start(self, job):
        if self._is_paused:
            if self._copies.switch_to(self.limits.get("branch", MAIN)):
                self.resume(frames.pack(frames.JOB, job))
            return
        self._copies.branch = self.limits.get("branch", MAIN)
        about = (self.limits, self.worker, self._reaper, self._box, self._objects)
        self._keeper = limits.LimitKeeper(*about) if self._group is None else GroupLimitKeeper(*about, self._group)
        self._tell_worker(frames.pack(frames.JOB, job))
        if self.limits.get("liveStdin"):
            self._live_stdin = inputs.LiveStdin(self._stdin)
            self._on_stdin()
        else:
            self._close_stdin()

    def _can_pause(self):
        return self._keeper is not None and self.limits.get("isKept") and not self._is_paused and self._exit_status is None

    def _pause(self, report):
        """The job of a session is over: nothing of the session runs until the next one."""
        ended = time.monotonic()
        if not self._reaper.stop_all(has_forked=self._copies.is_ordered):
            self._kill()
            return
        self._drain(self._stdout, self._stderr)
        self._report = report
        if self._copies.is_ordered:
            self._is_paused = True
            self._copies.go_on()
            return
        passed = self._keeper.check(at_once=True)
        if passed is not None and passed not in _INTERRUPTIBLE:
            self._stop(passed)
            return
        self._is_paused, self._times_awake = True, 0
        self._is_counted = passed is None and self._interrupted_for is None
        facts = {"killedFor": self._interrupted_for or passed, "held": None, "isKept": True, "status": None, "signal": None}
        facts["diskFull"] = self._has_full_disk(living=True)
        self._answer(facts | end_facts.usage(ended, self._keeper, 0.0, 0, ended_well=True))
        # Nobody waits for this.
        self._settle_group()
        if not self._reaper.make_sure():
            self.abandon()

    def _check_pause(self):
        """A process that was woken, by itself or by a signal of the kernel, is stopped again. It is not woken often."""
        if not watch.HAS_PROC or not self._reaper.awake():
            return
        self._times_awake += 1
        if self._times_awake > _MOST_TIMES_AWAKE or not self._reaper.stop_all():
            self.abandon()

    # For copies of a session (session_copies.py).

    def resume(self, message):
        """The next job of a session, or something else that its worker is to do."""
        self._is_paused = self._has_let_go = self._had_full_disk = False
        self._report = self._interrupted_for = None
        self._displays = display_gate.DisplayGate()
        self._frames_taken = self._output_bytes = 0
        if not self._is_settled:
            self._settle_group()
        self._is_settled = False
        is_counted = self._is_counted and self._times_awake == 0 and not self._copies and not self._copies.is_ordered
        self._is_counted = False
        self._keeper.renew(self.limits, at_once=not self._copies.is_ordered, is_counted=is_counted)
        # In this order the worker wakes once: it finds the message when it goes on.
        self._tell_worker(message)
        self._reaper.continue_all()

    def _settle_group(self):
        if self._group is not None:
            self._group.settle()
        self._is_settled = True

    def answer_order(self, is_kept, obstacles):
        self._report = None
        facts = {"killedFor": None, "isKept": is_kept, "status": 0, "signal": None, "obstacles": obstacles}
        self._answer(facts | {"wallMs": 0, "cpuMs": 0, "peakBytes": 0})

    def adopt(self, worker):
        """This process carries out the jobs from here on."""
        self.let_worker_go()
        self.worker = worker
        if self._glance is not None:
            self._glance.close()
        self._glance = _glance_at(worker, self._template)
        self._reaper.follow(worker, self._glance)
        self._pidfd = os.pidfd_open(worker)
        self._handle(self._pidfd, self._on_exit)

    def end_worker(self):
        """Ends it with all that it has started; copies stay. Its files go, too."""
        self._reaper.kill_active()
        self.let_worker_go()
        box_copies.clear(self._box)

    def let_worker_go(self):
        """Nothing that was said to it, or by it, reaches another one."""
        if self._pidfd >= 0:
            self._forget(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        self._to_worker = Outbox(self._job_pipe)
        self._on_job_pipe()
        empty_pipe(self._job_pipe)
        while self._report_pipe not in self._closed and _read(self._report_pipe):
            pass
        self._from_worker = frames.FrameParser(self._from_worker.max_payload, display_gate.LARGEST)

    def _go_on_without_worker(self):
        """It has ended, and copies of it are left: the session can go on from there."""
        ended = time.monotonic()
        self._reaper.kill_active()
        if not self._is_paused:
            self._has_let_go = True
            self._drain(self._stdout, self._stderr, self._report_pipe)
            self._answer(self._facts(ended))
        self.end_worker()
        self._copies.lose_branch()
        self._is_paused, self._killed_for, self._exit_status = True, None, None
        self._awaited = inputs.Awaited({})

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
        self._poll_server()

    def _poll_server(self):
        """Files for a worker that does not read stay with the server."""
        polled = (0 if self._to_worker.is_full else select.POLLIN) | (select.POLLOUT if self._is_stalled else 0)
        if polled != self._polled:
            self._polled = polled
            self._poller.modify(self._channel.fileno(), polled)

    def _on_stdin(self):
        """One piece at a time: the server sends the next one when the run has room for it."""
        state = self._live_stdin.send()
        if state == "full" and self._stdin not in self._handlers:
            self._handlers[self._stdin] = self._on_stdin
            self._poller.register(self._stdin, select.POLLOUT)
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
        elif kind == frames.PAUSED and self._can_pause():
            if not self._awaited:  # else it is foreign code, which has not read the files of its job
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
            self._had_full_disk = self._has_full_disk(living=True)
            self._let_go()

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
        if self._displays.admits(payload):
            for fd in (self._stdout, self._stderr):
                if fd in self._handlers and self._killed_for is None:
                    self._handlers[fd]()
            self._send(frames.DISPLAY, payload)
        if self._exit_status is None:
            self._tell_worker(frames.pack(frames.DISPLAY))

    def _open_gate(self):
        if self._gate is not None or (self._template is not None and self._template.gate is None):
            return
        try:
            # A copy: the run may end its template, and goes on.
            questions = file_gate.take_questions(self._pidfd) if self._template is None else os.dup(self._template.gate)
        except (OSError, AttributeError):
            return
        self._gate = file_gate.FileGate(questions, self._box, self._keeper_of_files)
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

    def _relay(self, fd, kind):
        data = _read(fd)
        if not data:
            return self._forget(fd) if data is not None else None
        room = self.limits["outputHardBytes"] - self._output_bytes if self.limits else len(data)
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
            self._poll_server()
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
        if self._keeper is None or not self.limits.get("isKept") or reason not in _INTERRUPTIBLE:
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
        self._kill()

    def _kill(self):
        """Copies of a session stay."""
        if self._copies:
            self._reaper.kill_active()
        else:
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
        self.ended_well = self.ended_well and not self._awaited and self._live_stdin is None
        self._is_over = True
        if self.ended_well:
            self._box.reset()
        else:
            self._box.remove()
        fds = {self._job_pipe, self._report_pipe, self._stdout, self._stderr, self._stdin, self._pidfd}
        for fd in fds - self._closed - {-1}:
            os.close(fd)
        self._handlers.clear()
        self._copies.close()
        if self._gate is not None:
            self._gate.close()
            os.close(self._gate.fd)
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
        if self._copies:
            facts["copies"] = self._copies.names()
        self._outbox.add(frames.pack(frames.END, json.dumps(facts).encode()))
        self._flush()

    def _send_files(self):
        """Nothing of the run is active, so waiting for the server keeps nobody from being watched."""
        try:
            for payload in self.artifacts.collect(self.limits):
                self._outbox.add(frames.pack(frames.FILE, payload))
                if self._outbox.is_full:
                    self._wait_for_server()
        except OSError:
            return  # the folder is gone, or unreadable

    def _drop_inputs(self):
        """The run ended before all its files, or its standard input, had come. The server stops sending when it reads of the end, and
        hangs up; if we did so first, it might not read what we have sent."""
        self._channel.setblocking(True)
        with contextlib.suppress(OSError):
            while self._channel.recv(_CHUNK):
                pass

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
            exit_code, self._killed_for or self._interrupted_for, ended, self._keeper, self.limits, (self._reaper.cpu_ms, self._reaper.peak),
            lambda has_failed: self._had_full_disk or (has_failed and self._has_full_disk()),
        )

    def _has_full_disk(self, living=False):
        """`living`: processes may hold files that have no name any more."""
        return self._box.is_full(self.limits["diskMb"], self._reaper.processes if living and watch.HAS_PROC else tuple)


def _glance_at(worker, template):
    """None if /proc does not show it: then it is waited for."""
    try:
        return watch.Glance(worker, () if template is None or template.pid is None else (template.pid,))
    except OSError:
        return None


def _read(fd):
    """The contents of a pipe; empty at its end, None if there is nothing now."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
