"""The supervisor of the spawn tier, spoken to as the server would; and what it would ask of Windows, with fakes in its place."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest

import python_half
from pungi.run import frames
from pungi.spawn.windows import WindowsTree
from serving import DEADLINE, HINTS, LIMITS, SANDBOX_UID
from standalone import windows_job
from test_standalone_windows import Kernel32

# An interpreter that every user can read, for tests that root starts.
_PYTHON = sys.executable if os.getuid() else shutil.which("python3", path="/usr/local/bin:/usr/bin") or sys.executable
# What Windows lacks of what modules look for when they are imported.
_ON_WINDOWS = """
import ast, asyncio, ctypes, importlib, inspect, json, os, platform, queue, select, shutil, signal, socket, subprocess, sys, sysconfig
import tempfile, threading, time, typing, uuid
for name in ("fcntl", "resource", "pwd", "grp", "termios", "posix"):
    sys.modules[name] = None
for module, names in (
    (os, "fork getuid sysconf statvfs O_CLOEXEC O_NOFOLLOW O_DIRECTORY wait4 waitid WNOHANG killpg setsid pidfd_open sched_getaffinity"),
    (select, "poll"), (signal, "SIGKILL SIGSTOP SIGRTMAX"), (time, "tzset"), (socket, "AF_UNIX"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
os.name = "nt"
from pungi.spawn import supervisor, windows, worker
print("imported")
"""


class Spawned:
    """A supervisor with an interpreter that waits for a job."""

    def __init__(self, case):
        self.folder = tempfile.mkdtemp(prefix="pungi-test-")
        case.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o711)
        command = [_PYTHON, "-I", "-S", str(python_half.FOLDER), "spawn"]
        env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, bufsize=0)
        case.addCleanup(self._close)
        settings = {"folder": f"{self.folder}/run", "data": [], "uid": SANDBOX_UID, "isBare": True, "memoryMb": 256}
        self.process.stdin.write(json.dumps(settings).encode() + b"\n")
        self.first = self.next()

    def next(self):
        return frames.read_frame(self.process.stdout.fileno()) or (None, b"")

    def start(self, code, **limits):
        limits = {**LIMITS, **limits}
        job = {"code": code, "filename": "main.py", "argv": [], "stdin": "", "files": [], "env": {}, "variables": {}, "limits": limits}
        said = frames.pack(frames.LIMITS, json.dumps({**limits, **HINTS}).encode()) + frames.pack(frames.JOB, json.dumps(job).encode())
        self.process.stdin.write(said)

    def output(self):
        """What the run has printed, in its first line."""
        kind, payload = self.next()
        assert kind == frames.STDOUT, (kind, payload)
        return payload.decode()

    def _close(self):
        self.process.stdin.close()
        self.process.wait(DEADLINE)
        self.process.stdout.close()


def _until(holds):
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.01)


def _is_dead(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0] == b"Z"
    return True


class Supervisor(unittest.TestCase):
    def test_an_end_of_its_input_ends_the_run_and_removes_its_folder(self):
        spawned = Spawned(self)
        self.assertEqual(spawned.first[0], frames.PARKED)
        spawned.start("import os, time\nprint(os.getpid())\ntime.sleep(10000)")
        pid = int(spawned.output())
        spawned.process.stdin.close()
        _until(lambda: _is_dead(pid))
        spawned.process.wait(DEADLINE)
        self.assertEqual(os.listdir(spawned.folder), [])

    @unittest.skipUnless(sys.platform == "linux", "elsewhere the group stays")
    def test_one_that_is_killed_takes_the_group_of_the_run_along(self):
        spawned = Spawned(self)
        spawned.start("import subprocess, time, os\nchild = subprocess.Popen(['sleep', '10000'])\nprint(os.getpid(), child.pid)\ntime.sleep(10000)")
        pids = [int(word) for word in spawned.output().split()]
        spawned.process.kill()
        for pid in pids:
            _until(lambda: _is_dead(pid))

    def test_a_server_that_does_not_read_keeps_nobody_from_ending_the_run(self):
        spawned = Spawned(self)
        code = "import os\nos.write(1, b'%d\\n' % os.getpid())\nwhile True: os.write(1, b'x' * 65536)"
        spawned.start(code, timeoutMs=1000, outputHardBytes=1 << 40)
        pid = int(spawned.output().split("\n")[0])
        _until(lambda: _is_dead(pid))
        kind = payload = None
        while kind != frames.END:
            kind, payload = spawned.next()
        self.assertEqual(json.loads(payload)["killedFor"], "timeout")

    def test_what_cannot_be_started_is_said(self):
        spawned = Spawned(self)
        spawned.process.stdin.close()
        spawned.process.wait(DEADLINE)
        settings = {"folder": "/no/such/folder", "data": [], "uid": SANDBOX_UID, "isBare": True, "memoryMb": 256}
        command = [_PYTHON, "-I", "-S", str(python_half.FOLDER), "spawn"]
        ended = subprocess.run(command, input=json.dumps(settings).encode() + b"\n", capture_output=True, timeout=DEADLINE)
        self.assertEqual(ended.stdout[4], frames.FAILED)
        self.assertIn(b"/no/such/folder", ended.stdout)


class Windows(unittest.TestCase):
    def test_no_module_of_it_needs_what_windows_lacks(self):
        env = {"PYTHONPATH": str(python_half.FOLDER), "LANG": "C.UTF-8"}
        ended = subprocess.run([sys.executable, "-c", _ON_WINDOWS], env=env, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(ended.stdout, "imported\n", ended.stderr)

    def test_the_interpreter_goes_on_only_in_its_job_and_ends_with_it(self):
        kernel32 = Kernel32()
        tree, folder = self._start(kernel32)
        wanted = ["CreateJobObjectW", "SetInformationJobObject", "Popen", "AssignProcessToJobObject", "write"]
        self.assertEqual(kernel32.names(), wanted)
        keeper = tree.watch({**LIMITS, "timeoutMs": 0})
        self.assertEqual((kernel32.names()[-1], keeper.check()), ("SetInformationJobObject", "timeout"))
        tree.end()
        tree.remove()
        self.assertEqual(kernel32.names()[-3:], ["TerminateJobObject", "wait", "CloseHandle"])
        self.assertEqual(os.listdir(folder), [])

    def test_an_interpreter_that_is_refused_its_job_is_killed(self):
        kernel32 = Kernel32(refuses=("AssignProcessToJobObject",))
        with self.assertRaises(windows_job.JobFault):
            self._start(kernel32)
        self.assertEqual(kernel32.names()[-2:], ["kill", "CloseHandle"])

    def _start(self, kernel32):
        folder = tempfile.mkdtemp(prefix="pungi-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        note = lambda name: lambda *_: kernel32.calls.append((name,))  # noqa: E731
        stream = types.SimpleNamespace(fileno=lambda: 1, write=note("write"))
        process = types.SimpleNamespace(_handle=5, stdin=stream, stdout=stream, stderr=stream, wait=note("wait"), kill=note("kill"))

        def popen(command, **how):
            kernel32.calls.append(("Popen",))
            return process

        settings = {"folder": f"{folder}/run", "data": [], "memoryMb": 64}
        tree = WindowsTree(settings, kernel32, types.SimpleNamespace(Popen=popen, PIPE=-1), inherit=lambda fd: fd)
        for fd in (tree.job, tree.report):
            self.addCleanup(os.close, fd)
        return tree, folder


if __name__ == "__main__":
    unittest.main()
