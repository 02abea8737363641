"""Signals of a run on kernels whose landlock has no rule for them."""

import python_half  # noqa: F401

import subprocess
import sys
import unittest

from pungi.jail import seccomp, system

SUPERVISOR = """
import os, select, signal, sys
sys.path.insert(0, sys.argv[1])
from pungi.jail import signal_gate, system; from pungi.limits import reaper
system.forbid_new_privileges()
system.become_subreaper()
gate = signal_gate.SignalGate()
worker = os.fork()
if worker == 0:
    os.close(gate.fd)
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", sys.argv[2], sys.argv[3]])
pidfd = os.pidfd_open(worker)
while True:
    ready, _, _ = select.select([gate.fd, pidfd], [], [])
    if gate.fd in ready:
        gate.answer()
    elif pidfd in ready:
        break
print("status", os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]))
for pid in __import__("pungi.limits.watch").limits.watch.descendants_of(os.getpid()):
    reaper._kill_by_pidfd(pid)
"""

PRELUDE = """
import ctypes, os, signal, sys
stranger, supervisor = int(sys.argv[1]), os.getppid()
def attempt(label, action):
    try:
        action()
        print(label, "sent", flush=True)
    except OSError as error:
        print(label, type(error).__name__, flush=True)
def tgkill(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall({"x86_64": 234, "aarch64": 131}[os.uname().machine], pid, pid, signal.SIGKILL) < 0:
        raise OSError(ctypes.get_errno(), "tgkill")
"""


@unittest.skipUnless(system.IS_LINUX and seccomp.is_supported(), "needs seccomp")
class SignalGateTest(unittest.TestCase):
    def run_under_gate(self, code):
        stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        command = [sys.executable, "-c", SUPERVISOR, str(python_half.FOLDER), PRELUDE + code, str(stranger.pid)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertIsNone(stranger.poll(), "the stranger was ended")
        stranger.communicate(b"\n")
        return result.stdout.splitlines(), result.stderr

    def test_a_stranger_the_supervisor_and_everybody_are_out_of_reach(self):
        lines, _ = self.run_under_gate("""
attempt("stranger", lambda: os.kill(stranger, signal.SIGKILL))
attempt("probe", lambda: os.kill(stranger, 0))
attempt("thread", lambda: tgkill(stranger))
attempt("supervisor", lambda: os.kill(supervisor, signal.SIGKILL))
attempt("its group", lambda: os.killpg(os.getpgid(supervisor), signal.SIGKILL))
attempt("init", lambda: os.kill(1, 0))
attempt("everybody", lambda: os.kill(-1, signal.SIGTERM))
""")
        self.assertEqual(lines[:-1], [f"{label} PermissionError" for label in (
            "stranger", "probe", "thread", "supervisor", "its group", "init", "everybody")])
        self.assertEqual(lines[-1], "status 0")

    def test_own_processes_and_groups_are_within_reach(self):
        lines, _ = self.run_under_gate("""
import subprocess
signal.signal(signal.SIGUSR1, lambda *_: print("caught", flush=True))
attempt("itself", lambda: os.kill(os.getpid(), signal.SIGUSR1))
attempt("raise", lambda: signal.raise_signal(signal.SIGUSR1))
child = subprocess.Popen(["/bin/sleep", "60"])
attempt("child", child.kill)
print(child.wait(), flush=True)
child = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
attempt("group", lambda: os.killpg(child.pid, signal.SIGTERM))
print(child.wait(), flush=True)
attempt("own group", lambda: os.kill(0, signal.SIGCONT))
""")
        self.assertEqual(lines, [
            "caught", "itself sent", "caught", "raise sent", "child sent", "-9", "group sent", "-15", "own group sent", "status 0"])

    def test_a_run_that_ends_itself_is_seen_to(self):
        lines, _ = self.run_under_gate("os.kill(os.getpid(), signal.SIGSEGV)")
        self.assertEqual(lines, ["status -11"])


if __name__ == "__main__":
    unittest.main()
