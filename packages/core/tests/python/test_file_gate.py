"""Whether a supervisor can answer questions about files: what it may do to processes decides."""

import python_half  # noqa: F401

import subprocess
import sys
import tempfile
import unittest

from pungi.jail import seccomp, system

CHILD = """
import errno, sys
sys.path.insert(0, sys.argv[1])
from pungi.jail import bpf, file_gate, seccomp, system
file_gate._YAMA = "/nowhere"
print(file_gate.can_answer())
file_gate._YAMA = sys.argv[2]
print(file_gate.can_answer())
file_gate._YAMA = "/nowhere"
system.forbid_new_privileges()
# As Docker's default profile does.
seccomp._install(*seccomp._compile(system.MACHINE, {"pidfd_getfd": errno.EPERM}, bpf.ALLOW))
print(file_gate.can_answer())
"""


@unittest.skipUnless(system.IS_LINUX and seccomp.is_supported(), "needs seccomp")
class FileGate(unittest.TestCase):
    def test_a_supervisor_that_may_not_take_descriptors_does_not_answer(self):
        with tempfile.NamedTemporaryFile("w") as strict:
            strict.write("2\n")
            strict.flush()
            command = [sys.executable, "-c", CHILD, str(python_half.FOLDER), strict.name]
            result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stdout.split(), ["True", "False", "False"], result.stderr)


if __name__ == "__main__":
    unittest.main()
