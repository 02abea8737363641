"""The processes of a run on Windows: a job object, which limits their memory together and ends them together."""

import os
import shutil
import subprocess
import time

from standalone import windows_job

from .command import command


class Box:
    """The folder that a run writes to. Its size is not counted."""

    def __init__(self, root):
        self._root = root
        self.work, self.temporary = os.path.join(root, "work"), os.path.join(root, "tmp")
        for folder in (root, self.work, self.temporary):
            os.mkdir(folder)

    def exceeds(self, limit_mb):
        return False

    def remove(self):
        shutil.rmtree(self._root, ignore_errors=True)


class Deadline:
    """Enforces the time limit of a run; the job object enforces the memory limit."""

    peak, held, cpu_before, cpu_seen = 0, None, 0.0, 0.0

    def __init__(self, limits):
        self.started = time.monotonic()
        self._until = self.started + limits["timeoutMs"] / 1000

    def patience_ms(self):
        return max(0, (self._until - time.monotonic()) * 1000)

    def check(self, at_once=False):
        return "timeout" if time.monotonic() >= self._until else None

    def passed_at_end(self):
        return None

    def counted(self, highest):
        return highest

    def final_peak(self, known):
        return known


class WindowsTree:
    look_every = None
    # All processes of the job are ended before their pipes are read to the end.
    pipes_end_within = 2
    used = (0.0, 0)

    def __init__(self, settings, kernel32=None, subprocess=subprocess, inherit=None):
        """The last three arguments are stand-ins for systems other than Windows."""
        self._kernel32 = kernel32 or windows_job.load_kernel32()
        self.box = Box(settings["folder"])
        self._job = windows_job.make_job(self._kernel32, settings["memoryMb"] << 20)
        try:
            self._start(settings, subprocess, inherit or _inherit)
        except BaseException:
            windows_job.close_job(self._kernel32, self._job)
            self.box.remove()
            raise

    def _start(self, settings, subprocess, inherit):
        job, self.job = os.pipe()
        self.report, report = os.pipe()
        data = {folder["name"]: folder["path"] for folder in settings["data"]}
        about = {
            "job": inherit(job), "report": inherit(report), "work": self.box.work, "temporary": self.box.temporary, "data": data,
            "uid": None, "bare": None,
        }
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command(about), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, close_fds=False, creationflags=windows_job.CREATION_FLAGS
        )
        os.close(job)
        os.close(report)
        self.stdout, self.stderr = self._process.stdout.fileno(), self._process.stderr.fileno()
        try:
            # It loads no package before it gets this line, so nothing can have escaped by now.
            windows_job.put_in_job(self._kernel32, self._job, int(self._process._handle))
        except BaseException:
            self._process.kill()
            raise
        self._process.stdin.write(b"\n")

    def watch(self, limits):
        windows_job.limit_job(self._kernel32, self._job, limits["memoryMb"] << 20)
        return Deadline(limits)

    def wait(self):
        self._process.wait()

    def look(self):
        return self._process.poll()

    def ask_for_output(self):
        """Windows does not report this of a process."""

    def end(self):
        windows_job.end_job(self._kernel32, self._job)
        self._process.wait()

    def is_full(self, limit_mb):
        return False

    def remove(self):
        windows_job.close_job(self._kernel32, self._job)
        self.box.remove()


def _inherit(fd):
    """The handle number that a child finds it by."""
    import msvcrt

    handle = msvcrt.get_osfhandle(fd)
    os.set_handle_inheritable(handle, True)
    return handle
