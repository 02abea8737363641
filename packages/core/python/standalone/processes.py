"""The subprocess of one call: started, given its job, and ended with everything that it has started."""

import os

from .process_tree import CALL_MARK, end_group, end_strays, find_strays
from .reports import new_id
from .windows_job import CREATION_FLAGS, close_job, end_job, load_kernel32, make_job, put_in_job


def start_process(command, environment, folder, memory_mb):
    kind = WindowsProcess if os.name == "nt" else PosixProcess
    return kind(command, environment, folder, memory_mb)


class PosixProcess:
    """Runs in a new session; limits its own memory before it loads the script."""

    def __init__(self, command, environment, folder, memory_mb):
        import subprocess
        import threading

        self._mark = new_id()
        self._lock = threading.Lock()
        self._is_reaped = False
        self._process = _open_process(
            subprocess, command, {**environment, CALL_MARK: self._mark}, folder, start_new_session=True
        )
        self.stdout, self.stderr = self._process.stdout, self._process.stderr

    def hand_over(self, data):
        _write_job(self._process.stdin, data)

    def has_ended(self):
        """Does not reap it, so that its number stays its own."""
        if hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        return self._process.poll() is not None

    def wait(self):
        """Waits until it has ended by itself or was ended; does not reap it."""
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()

    def end(self):
        with self._lock:
            if self._is_reaped:
                return
            # Before the group is ended: a child of an ended process can no longer be attributed.
            strays = find_strays(self._mark, self._process.pid)
            end_group(self._process.pid)
        for stray in strays:
            _kill_quietly(stray)
        end_strays(self._mark)

    def leave(self):
        """After `wait`: ends the rest of its group, and returns its exit status (negative for a signal)."""
        with self._lock:
            end_group(self._process.pid)
            self._is_reaped = True
            status = self._process.wait()
        self._process.stdin.close()
        return status

    def end_rest(self):
        """Ends processes that left the group."""
        end_strays(self._mark)


class WindowsProcess:
    """Runs in a job object, which limits the memory of all its processes together and ends them together."""

    def __init__(self, command, environment, folder, memory_mb, kernel32=None, subprocess=None):
        import threading

        if subprocess is None:
            import subprocess
        self._lock = threading.Lock()
        self._kernel32 = kernel32 or load_kernel32()
        self._job = make_job(self._kernel32, memory_mb * 1024 * 1024)
        try:
            self._process = _open_process(subprocess, command, environment, folder, creationflags=CREATION_FLAGS)
        except BaseException:
            self.end_rest()
            raise
        self.stdout, self.stderr = self._process.stdout, self._process.stderr
        try:
            # It waits for its job before it does anything, so nothing can have escaped by now.
            put_in_job(self._kernel32, self._job, int(self._process._handle))
        except BaseException:
            self._process.kill()
            self.end_rest()
            raise

    def hand_over(self, data):
        _write_job(self._process.stdin, data)

    def has_ended(self):
        return self._process.poll() is not None

    def wait(self):
        self._process.wait()

    def end(self):
        with self._lock:
            if self._job is not None:
                end_job(self._kernel32, self._job)

    def leave(self):
        self.end()
        status = self._process.wait()
        self._process.stdin.close()
        return status

    def end_rest(self):
        """Closes the handle once: its number may be another's afterwards."""
        with self._lock:
            job, self._job = self._job, None
        if job is not None:
            close_job(self._kernel32, job)


def _open_process(subprocess, command, environment, folder, **how):
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, **how)


def _write_job(pipe, data):
    """The pipe stays open afterwards: its end shows the process that the wrapper is gone."""
    view = memoryview(data)
    try:
        while view:
            view = view[pipe.write(view):]
    except OSError:
        pass  # it has ended already, which `wait` reports


def _kill_quietly(number):
    import signal

    try:
        os.kill(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
