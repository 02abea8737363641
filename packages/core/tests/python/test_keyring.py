"""A key in the session of whoever starts the server is not possessed by what the server starts."""

import json
import os
import socket
import subprocess
import sys
import unittest

import python_half
from pungi.jail import system

# Looks for the key in the session keyring, as any program can.
FIND = """
import ctypes, platform
call = {"x86_64": 250, "aarch64": 219}[platform.machine()]
print("found" if ctypes.CDLL(None).syscall(call, 10, -3, b"user", b"pungi-secret", 0) > 0 else "not found")
"""
# Becomes its arguments, in a session that has the key.
WITH_KEY = """
import ctypes, os, platform, sys
join, add = {"x86_64": (250, 248), "aarch64": (219, 217)}[platform.machine()]
libc = ctypes.CDLL(None)
if libc.syscall(join, 1, None) < 0 or libc.syscall(add, b"user", b"pungi-secret", b"secret", 6, -3) < 0:
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""
# Becomes its further arguments, with the descriptor of the first one in the place of 3. Shells take one digit alone.
WITH_DESCRIPTOR = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.execv(sys.argv[2], sys.argv[2:])"


@unittest.skipUnless(system.IS_LINUX, "keyrings are Linux's")
class SessionKeyring(unittest.TestCase):
    def run_with_key(self, command, **more):
        done = subprocess.run([sys.executable, "-I", "-c", WITH_KEY, *command], capture_output=True, text=True, timeout=30, **more)
        if done.returncode == 77:
            self.skipTest("this machine has no keyrings")
        return done.stdout.strip()

    def test_is_there_for_what_is_started_without_us(self):
        self.assertEqual(self.run_with_key([sys.executable, "-c", FIND]), "found")

    def test_is_left_before_a_tool_starts(self):
        ours, theirs = socket.socketpair()
        order = {"server": os.getpid(), "command": sys.executable, "args": ["-c", FIND], "env": {}}
        ours.sendall(json.dumps(order).encode())
        ours.shutdown(socket.SHUT_WR)
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        tool = [sys.executable, "-I", "-S", "-X", "utf8", str(python_half.FOLDER), "tool"]
        command = [sys.executable, "-I", "-c", WITH_DESCRIPTOR, str(theirs.fileno()), *tool]
        self.assertEqual(self.run_with_key(command, pass_fds=[theirs.fileno()]), "not found")


if __name__ == "__main__":
    unittest.main()
