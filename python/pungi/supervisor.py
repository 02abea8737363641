"""The supervisor: PID 1 of namespaces of its own, in which it parks one worker after the other, each for one run.

No foreign code runs in it or can reach it. It relays output, holds the run to its limits, ends every process of it, and tells the server what really happened.
"""

import json
import os
import resource
import select
import signal
import socket
import sys
import time

from . import box as boxes
from . import frames, run_jail, system, watch, worker

_SAMPLE_EVERY = 0.010
_WALK_EVERY = 0.100
_MOMENT = 0.0005
# Until the server says how long a report may be.
_MAX_REPORT = 64 * 1024
_CHUNK = 65536
# What is to be sent waits this long for more: a short run is then one message, and the server wakes once.
_GATHERING_MS = 1
# Then a fresh one takes its place, before anything that grows slowly can matter.
_RUNS_OF_ONE_SUPERVISOR = 500
_TASKS_OF_OTHERS = 256
_REHEARSAL = b'{"timeoutMs": 30000, "cpuMs": 30000.5, "killedFor": null, "memoryMb": 512}'
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def start(settings, name, token):
    """Called in the fork server: forks a supervisor, which parks one worker after the other."""
    identity = (os.getuid(), os.getgid())
    pid = run_jail.fork_into_namespaces() if settings["tier"] == "namespace" else os.fork()
    if pid:
        return pid
    try:
        _serve(settings, name, token, identity)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(0)


def _serve(settings, name, token, identity):
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(settings["socket"])
    channel.sendall(frames.pack(frames.HELLO, json.dumps({"id": name, "token": token}).encode()))
    try:
        box = _settle(settings, name, identity)
    except Exception as error:
        channel.sendall(frames.pack(frames.FAILED, str(error).encode()))
        return
    tasks_outside = _tasks_counted_outside(settings["tier"])
    is_hurried = False
    for _ in range(_RUNS_OF_ONE_SUPERVISOR):
        supervisor = _park_and_run(settings["tier"], channel, box, tasks_outside, is_hurried)
        if supervisor is None or not supervisor.ended_well:
            return
        is_hurried = supervisor.is_hurried
    box.remove()


def _settle(settings, name, identity):
    """Goes where runs will be; gives back the place that they may write to, one after the other."""
    if settings["tier"] == "namespace":
        run_jail.settle_in_namespaces(identity)
        covered = [(os.open(path, os.O_PATH), path) for path in settings["covered"]]
        box = boxes.NamespaceBox(settings["diskMb"], covered)
    else:
        if system.IS_LINUX:
            system.become_subreaper()
        box = boxes.FolderBox(os.path.join(settings["workBase"], name))
    if system.IS_LINUX:
        system.set_dumpable(False)
    return box


def _park_and_run(tier, channel, box, tasks_outside, is_hurried):
    try:
        supervisor = Supervisor(tier, channel, box, tasks_outside, is_hurried)
    except OSError as error:
        channel.sendall(frames.pack(frames.FAILED, str(error).encode()))
        return None
    try:
        supervisor.loop()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        supervisor.abandon()
    return supervisor


class Supervisor:
    """One worker: parked, given one run, held to its limits, ended."""

    def __init__(self, tier, channel, box, tasks_outside, is_hurried):
        # Whether another run may follow here, and whether somebody waits for it already.
        self.ended_well = self.is_hurried = False
        self._tier = tier
        self._channel = channel
        self._box = box
        self._from_server = frames.FrameParser()
        self._from_worker = frames.FrameParser(_MAX_REPORT)
        self._limits = None
        self._started = None
        self._killed_for = None
        self._exit_status = None
        self._report = None
        self._has_let_go = self._is_over = False
        self._closed = set()
        self._outbox = b""
        self._output_bytes = 0
        self._peak = 0
        self._cpu_ms = self._cpu_before = 0.0
        self._ledger = watch.CpuLedger()
        self._next_sample = self._next_walk = 0.0
        self._tasks_outside = tasks_outside
        self._spawn_worker(is_hurried)
        self._glance = watch.Glance(self._worker) if tier == "namespace" else None

    def _spawn_worker(self, is_hurried):
        job_read, self._job_pipe = os.pipe()
        self._report_pipe, report_write = os.pipe()
        self._stdout, stdout_write = os.pipe()
        self._stderr, stderr_write = os.pipe()
        self._worker = os.fork()
        if self._worker == 0:
            worker.main(self._tier, self._box, is_hurried, job_read, report_write, stdout_write, stderr_write)
        for fd in (job_read, report_write, stdout_write, stderr_write):
            os.close(fd)
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
        for fd in self._handlers:
            self._poller.register(fd, select.POLLIN)

    def loop(self):
        while self._exit_status is None and not self._is_over:
            ready = self._poller.poll(self._patience())
            if self._outbox and not ready:
                self._flush()
            for fd, _ in ready:
                if fd in self._handlers and self._exit_status is None:
                    self._handlers[fd]()
            if self._started is not None and self._exit_status is None and not self._is_over:
                self._check_limits(time.monotonic())
            if not hasattr(os, "pidfd_open"):
                self._on_exit()
        if self._started is None and not self._is_over:
            self.abandon()  # a parked worker has died: nobody waits for an answer
        if not self._is_over:
            self._finish()

    def _patience(self):
        if self._outbox:
            return _GATHERING_MS
        if self._started is None:
            return None
        now = time.monotonic()
        until = min(self._deadline, self._next_sample)
        return max(0, (until - now) * 1000)

    # What comes in.

    def _on_server(self):
        data = self._channel.recv(_CHUNK)
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
            elif kind == frames.CANCEL:
                self._stop("cancelled")

    def abandon(self):
        """The server is gone or no longer wants us."""
        self._kill_all()
        self._box.remove()
        os._exit(0)

    def _start(self, job):
        self._cpu_before = watch.cpu_clock_ms(self._worker) if system.IS_LINUX else 0.0
        self._started = time.monotonic()
        self._deadline = self._started + self._limits["timeoutMs"] / 1000
        self._next_sample = self._next_walk = self._started + _SAMPLE_EVERY
        self._bound_tasks()
        frames.write_all(self._job_pipe, frames.pack(frames.JOB, job))

    def _bound_tasks(self):
        """Stops a fork bomb between two looks. Above the limit itself, so that a look can see the limit passed."""
        if self._tasks_outside is not None:
            bound = self._tasks_outside + self._limits["processes"] + 4
            hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
            resource.prlimit(self._worker, resource.RLIMIT_NPROC, (bound, bound))

    def _on_report(self):
        data = os.read(self._report_pipe, _CHUNK)
        if not data:
            return self._forget(self._report_pipe)
        self._from_worker.feed(data)
        try:
            for kind, payload in self._from_worker.frames():
                self._take(kind, payload)
                if self._is_over:
                    return None
        except ValueError:
            # Foreign code wrote to the channel. What it said is not believed; the process's end will tell. Whoever
            # still writes must not wait for a reader, nor the worker for an answer to what was not read.
            self._report = None
            self._forget(self._report_pipe)
            self._closed.add(self._report_pipe)
            os.close(self._report_pipe)
            self._let_go()

    def _take(self, kind, payload):
        if kind == frames.PARKED and self._started is None:
            self._send(frames.PARKED, payload)
            self._flush()
            self._warm_up()
        elif kind == frames.REPORT and self._report is None:
            self._report = payload
        elif kind == frames.FINISHED:
            self._report = payload
            if self._box.exceeds(self._limits["diskMb"]):
                self._stop("disk")
            elif not self._finish_early():
                self._let_go()
        elif kind == frames.TROUBLE:
            # The run failed. Look now, while whatever it used is still held, whether a limit was the reason.
            self._check_limits(time.monotonic(), at_once=True)
            self._let_go()

    def _warm_up(self):
        """The fork has made all our pages shared again: those that a run needs are copied now, while nobody waits."""
        parser = frames.FrameParser()
        parser.feed(frames.pack(frames.LIMITS, _REHEARSAL))
        for _, payload in parser.frames():
            json.dumps(json.loads(payload))
        self._look_closely()
        resource.prlimit(self._worker, resource.RLIMIT_NPROC) if system.IS_LINUX else None

    def _let_go(self):
        """The worker waits to be looked at, or to be killed, before it ends by itself. It is answered once: foreign code
        that asks without reading could otherwise fill the pipe and stop us."""
        if self._has_let_go:
            return
        self._has_let_go = True
        try:
            frames.write_all(self._job_pipe, frames.pack(frames.TROUBLE))
        except OSError:
            pass  # it has ended

    def _relay(self, fd, kind):
        data = os.read(fd, _CHUNK)
        if not data:
            return self._forget(fd)
        room = self._limits["outputHardBytes"] - self._output_bytes if self._limits else len(data)
        self._output_bytes += len(data)
        if room > 0:
            self._send(kind, data[:room])
        if len(data) > room:
            self._stop("output")

    def _on_exit(self):
        pid, status, used = os.wait4(self._worker, os.WNOHANG)
        if pid:
            self._exit_status = status
            self._book(used)

    def _book(self, used):
        """Adds what a process of the run, and those that it had waited for, used."""
        self._cpu_ms += (used.ru_utime + used.ru_stime) * 1000
        self._peak = max(self._peak, used.ru_maxrss * _MAXRSS_UNIT)

    def _forget(self, fd):
        self._poller.unregister(fd)
        del self._handlers[fd]

    def _send(self, kind, payload):
        self._outbox += frames.pack(kind, payload)
        if len(self._outbox) > _CHUNK:
            self._flush()

    def _flush(self):
        data, self._outbox = self._outbox, b""
        try:
            self._channel.sendall(data)
        except OSError:
            self.abandon()

    # Limits.

    def _check_limits(self, now, at_once=False):
        if now >= self._deadline:
            return self._stop("timeout")
        if not at_once and now < self._next_sample:
            return None
        self._next_sample = now + _SAMPLE_EVERY
        if not watch.HAS_PROC:
            return None
        pids = self._processes()
        if len(pids) > self._limits["processes"]:
            return self._stop("processes")  # at once: to look at each of them would give them time
        use = watch.sample(pids)
        self._peak = max(self._peak, use.resident if len(pids) == 1 else 0)
        if self._ledger.total_ms(pids) - self._cpu_before > self._limits["cpuMs"]:
            return self._stop("cpu")
        if use.tasks > self._limits["processes"]:
            return self._stop("processes")
        if len(pids) > 1 or use.resident > self._memory_limit:
            exact = watch.exact_memory(pids)
            self._peak = max(self._peak, exact)
            if exact > self._memory_limit:
                return self._stop("memory")
        if watch.hidden_buffers(pids, self._memory_limit) > self._memory_limit:
            return self._stop("memory")
        if at_once or now >= self._next_walk:
            self._next_walk = now + _WALK_EVERY
            if self._box.is_over(self._limits["diskMb"], pids):
                return self._stop("disk")
        return None

    @property
    def _memory_limit(self):
        return self._limits["memoryMb"] * 1024 * 1024

    def _processes(self):
        if self._tier == "namespace":
            return watch.processes_in_namespace()
        return watch.descendants_of(os.getpid())

    # The end.

    def _stop(self, reason):
        if self._killed_for is None:
            self._killed_for = reason
        self._kill_all()
        self._exit_status = self._worker_status

    def _kill_all(self):
        """Ends every process of the run and collects it. Nobody is left to write, fork or hold a pipe afterwards."""
        self._worker_status = self._exit_status
        try:
            while True:
                self._signal_all()
                if self._tier == "namespace":
                    self._collect(0)
                elif not self._collect_ended():
                    time.sleep(_MOMENT)
        except ChildProcessError:
            return

    def _collect_ended(self):
        collected = 0
        while self._collect(os.WNOHANG):
            collected += 1
        return collected

    def _collect(self, flags):
        pid, status, used = os.wait4(-1, flags)
        if pid:
            self._book(used)
        if pid == self._worker:
            self._worker_status = status
        return pid

    def _signal_all(self):
        if self._tier == "namespace":
            _kill(-1)
        elif not watch.HAS_PROC:
            _kill(-self._worker)
        else:
            # Stopped first, so that nothing forks faster than it is found.
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in watch.descendants_of(os.getpid()):
                    _kill(pid, number)

    def _finish_early(self):
        """The usual end: one process, all well. Its figures are taken and it is killed; only then is it waited for.

        Taking down a large process costs milliseconds in which nothing of it runs any more and somebody waits.
        """
        ended = time.monotonic()
        figures = self._look_closely()
        if figures is None:
            return False
        self._signal_all()
        self._drain()
        facts = {"killedFor": self._killed_for, "status": 0, "signal": None}
        facts |= self._usage(ended, *figures)
        self._answer(facts)
        self._kill_all()
        self._leave(ended_well=self._killed_for is None)
        return True

    def _look_closely(self):
        if self._glance is None:
            return None
        try:
            return self._glance.read()
        except OSError:
            return None  # it did not wait to be looked at

    def _leave(self, ended_well):
        """Nothing of the run is alive any more: the place can be given to the next one."""
        self.ended_well = ended_well and self._box.can_be_reset
        self._is_over = True
        if self.ended_well:
            self._box.reset()
        else:
            self._box.remove()
        fds = {self._job_pipe, self._report_pipe, self._stdout, self._stderr, getattr(self, "_pidfd", -1)}
        for fd in fds - self._closed - {-1}:
            os.close(fd)
        self._handlers.clear()
        if self._glance is not None:
            self._glance.close()

    def _drain(self):
        """Relays what the run wrote before its end. Nobody can write any more, so it does not block."""
        pipes = select.poll()
        for fd in (self._stdout, self._stderr):
            if fd in self._handlers:
                pipes.register(fd, select.POLLIN)
        while self._killed_for != "output" and (ready := pipes.poll(0)):
            for fd, _ in ready:
                self._handlers[fd]()
                if fd not in self._handlers:
                    pipes.unregister(fd)

    def _answer(self, facts):
        if self._report is not None:
            self._outbox += frames.pack(frames.REPORT, self._report)
        self._outbox += frames.pack(frames.END, json.dumps(facts).encode())
        self._flush()

    def _finish(self):
        ended = time.monotonic()
        self._kill_all()
        self._drain()
        while self._report_pipe in self._handlers:
            self._on_report()
        facts = self._facts(ended)
        self._leave(ended_well=facts["killedFor"] is None and facts["signal"] is None)
        self._answer(facts)

    def _facts(self, ended):
        exit_code = os.waitstatus_to_exitcode(self._exit_status)
        killed_for = self._killed_for
        if killed_for is None and exit_code < 0 and self._cpu_ms - self._cpu_before > self._limits["cpuMs"]:
            killed_for = "cpu"  # by the kernel's own limit, before we looked again
        return {
            "killedFor": killed_for,
            "status": exit_code if exit_code >= 0 else None,
            "signal": -exit_code if exit_code < 0 else None,
            **self._usage(ended, self._cpu_ms, self._peak),
        }

    def _usage(self, ended, cpu_ms, peak):
        return {
            "wallMs": (ended - self._started) * 1000 if self._started else 0.0,
            "cpuMs": max(0.0, cpu_ms - self._cpu_before),
            "peakBytes": max(self._peak, peak),
        }


def _tasks_counted_outside(tier):
    """Tasks that the kernel may count into our RLIMIT_NPROC though they are not the run's; None where it cannot be told."""
    if not system.IS_LINUX:
        return None
    if tier == "namespace":
        # Since Linux 5.14 the count is kept for each user namespace: only the supervisor is in ours.
        return 1 if system.kernel_version() >= (5, 14) else None
    # All of the user's count, other runs' too, which must not be able to use up ours: a bound for the machine's sake.
    return watch.tasks_of_user(os.getuid()) + _TASKS_OF_OTHERS


def _kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
