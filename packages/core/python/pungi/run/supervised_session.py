"""A run whose worker may be kept as a session: it waits for its next job, and copies of it are made (session_copies.py)."""

import os
import time

from ..jail import box_copies
from ..limits import watch
from ..limits.glance import glance_at
from . import display_gate, end_facts, frames
from .outbox import Outbox
from .session_copies import MAIN, SessionCopies, empty_pipe
from .supervised_run import SupervisedRun

# A session gets this long to end its job by itself.
_INTERRUPT_SECONDS = 1.0
# Between two jobs nothing of a session may run.
_LOOK_AT_PAUSED_MS, _MOST_TIMES_AWAKE = 1000, 2
# The limits that end the job of a session, and not the session.
_INTERRUPTIBLE = ("timeout", "cpu", "output", "cancelled")


class SupervisedSession(SupervisedRun):
    # Why the job of a session was interrupted.
    _interrupted_for = None
    # Whether the use of a session that waits was looked at when it was stopped, and its cgroup is ready for the next job.
    _is_counted = _is_settled = False
    # How often it was found awake since.
    _times_awake = 0

    def _go_on_in_copies(self):
        while self._copies and not self._is_over and self._report_pipe != -1:
            self._go_on_without_worker()
            self._serve()

    def _patience_between_jobs(self):
        return _LOOK_AT_PAUSED_MS if self._is_paused else None

    def _on_nothing(self):
        if self._is_paused:
            self._check_pause()
        super()._on_nothing()

    def _start(self, job):
        branch = self.limits.get("branch", MAIN)
        if self._is_paused:
            if self._copies.switch_to(branch):
                self.resume(frames.pack(frames.JOB, job))
            return
        if self.limits.get("isKept"):
            pipes = self._job_pipe, self._report_pipe, self._stdout, self._stderr
            self._copies = SessionCopies(self, self._box, self._reaper, pipes)
            self._copies.branch = branch
        super()._start(job)

    def _take_pause(self, report):
        """The job of a session is over."""
        # Before it has read the files of its job, this is foreign code.
        if self._has_job() and self.limits.get("isKept") and self._exit_status is None and not self._awaited:
            self._pause(report)

    def _pause(self, report):
        """Nothing of the session runs until the next job."""
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

    # The end of a job, or of the session.

    def end_for(self, reason):
        """Ends the run. The job of a session is interrupted first: the session survives if the script ends by itself."""
        if self._keeper is None or not self.limits.get("isKept") or reason not in _INTERRUPTIBLE:
            self._stop(reason)
        elif self._interrupted_for is None:
            self._interrupted_for = reason
            self._keeper.grant(_INTERRUPT_SECONDS)
            self._reaper.interrupt()
        elif reason != "output":
            self._stop(self._interrupted_for)

    def _kill(self):
        """Copies of a session stay."""
        if self._copies:
            self._reaper.kill_active()
            self._exit_status = self._reaper.worker_status
        else:
            super()._kill()

    def _reason(self):
        return self._killed_for or self._interrupted_for

    def _answer(self, facts):
        if self._copies:
            facts["copies"] = self._copies.names()
        super()._answer(facts)

    def _leave(self, ended_well):
        super()._leave(ended_well)
        if self._copies is not None:
            self._copies.close()

    # For copies of a session (session_copies.py).

    def resume(self, message):
        """The next job of a session, or something else that its worker is to do."""
        self._is_paused = self._has_let_go = self._had_full_disk = False
        self._report = self._interrupted_for = None
        self._displays = None
        self._frames_taken = self._output_bytes = 0
        if not self._is_settled:
            self._settle_group()
        self._is_settled = False
        is_counted = self._is_counted and self._times_awake == 0 and not self._copies and not self._copies.is_ordered
        self._is_counted = False
        self._keeper.renew(self.limits, at_once=not self._copies.is_ordered, is_counted=is_counted)
        # In this order the worker wakes once: it finds the message when it goes on.
        self._tell_worker(message)
        self._leave_output(True)
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
        self._glance = glance_at(worker, self._template, self._group)
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
        while self._report_pipe != -1 and self._read(self._report_pipe):
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
        self._awaited = ()
