"""The processes of a run on POSIX: one session. On Linux all descendants are found and watched, elsewhere the process group."""

import contextlib
import os
import subprocess

from ..jail import bare_environment, box, data_folders, system
from ..limits import limits, watch
from ..limits.kernel_objects import KernelObjects
from ..limits.reaper import Reaper
from ..run import last_output
from ..run.lease import Lease
from .command import command


class PosixTree:
    # In seconds, for systems that cannot wait for a process without reaping it: macOS, before Python 3.13.
    look_every = None if hasattr(os, "waitid") else 0.02
    # Every process is ended before its pipes are read to their end; without /proc, one that left the group may live on.
    pipes_end_within = None if watch.HAS_PROC else 2

    def __init__(self, settings):
        system.leave_session_keyring()
        self._lease = Lease(settings.get("lease"))
        if system.IS_LINUX:
            system.become_subreaper()
        data = data_folders.outside(data_folders.readable(settings["data"], data_folders.outside(settings["data"])))
        self.box = box.FolderBox(settings["folder"], data)
        try:
            self._start(settings, data)
        except BaseException:
            self.box.remove()
            raise
        self._reaper = Reaper(self._process.pid)
        self._objects = KernelObjects(False)

    def _start(self, settings, data):
        uid = settings["uid"] if os.getuid() == 0 else None
        bare = os.path.join(self.box.root, "environment") if settings["isBare"] else None
        if bare is not None:
            bare_environment.make(bare)
        if uid is not None:
            os.chmod(self.box.root, 0o711)
            for folder in (self.box.work, self.box.temporary):
                os.chown(folder, uid, uid)
        job, self.job = os.pipe()
        self.report, report = os.pipe()
        about = {
            "job": job, "report": report, "work": self.box.work, "temporary": self.box.temporary, "data": data, "uid": uid, "bare": bare,
        }
        pipe = subprocess.PIPE
        # Nothing is ever written to its stdin, which ends with this process.
        self._process = subprocess.Popen(
            command(about), cwd="/", stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, pass_fds=(job, report), start_new_session=True
        )
        os.close(job)
        os.close(report)
        self.stdout, self.stderr = self._process.stdout.fileno(), self._process.stderr.fileno()

    def watch(self, most):
        """At the start of the run: returns the watch that enforces its limits."""
        self._lease.mark_runs(True)
        return limits.LimitKeeper(most, self._process.pid, self._reaper, self.box, self._objects)

    def wait(self):
        """Waits, in a thread, until the interpreter has ended. Does not reap it."""
        if self.look_every is None:
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)

    def look(self):
        """The exit code of the interpreter, negative for a signal; None while it lives."""
        status = self._reaper.look()
        return None if status is None else os.waitstatus_to_exitcode(status)

    def ask_for_output(self):
        last_output.wait_for(self._reaper, {})

    def end(self):
        self._reaper.kill_all()

    @property
    def used(self):
        return self._reaper.cpu_ms, self._reaper.peak

    def is_full(self, limit_mb):
        return self.box.is_full(limit_mb, self._reaper.processes if watch.HAS_PROC else tuple)

    def remove(self):
        self.box.remove()
