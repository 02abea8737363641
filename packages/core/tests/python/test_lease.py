"""The lease of a fork server on its generation, with real fork servers and a real lock of another process."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import python_half
from pungi.jail import system
from serving import DEADLINE, Server, tier_that_works

HOLDER = [sys.executable, "-I", "-S", "-X", "utf8", str(python_half.FOLDER), "lock-holder"]


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class Lease(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tier = tier_that_works()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pungi-test-")
        self.addCleanup(folder.cleanup)
        self.generation = os.path.join(folder.name, "g1.lock")
        self.runs = os.path.join(folder.name, "ml.runs")
        with open(self.generation, "w") as file:
            file.write("secret\n")
        os.chmod(self.generation, 0o600)

    def start(self):
        server = Server(self.tier, lease={"generation": self.generation, "runs": self.runs})
        self.addCleanup(server.close)
        return server

    def is_free(self, path):
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False

    def wait_until(self, condition):
        deadline = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_is_held_from_the_first_worker_to_the_end(self):
        server = Server(self.tier, lease={"generation": self.generation, "runs": self.runs})
        supervisor = server.park()
        self.assertFalse(self.is_free(self.generation))
        supervisor.run("1")
        self.assertFalse(self.is_free(self.generation))
        server.close()
        self.assertTrue(self.is_free(self.generation))

    def test_is_shared(self):
        for server in (self.start(), self.start()):
            server.park().connection.close()

    def test_ends_when_the_guard_is_killed(self):
        server = self.start()
        server.park()
        server.process.send_signal(signal.SIGKILL)
        self.wait_until(lambda: self.is_free(self.generation))

    def test_a_generation_that_is_gone_fails_the_fork_server(self):
        os.unlink(self.generation)
        self.assertEqual(
            self.start().hear(), {"failed": f"the environment was changed or deleted: {self.generation} is gone"}
        )

    def test_a_generation_that_is_removed_while_the_lease_waits_is_gone(self):
        with open(self.generation) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            server = self.start()
            self.wait_until(lambda: self._is_opened_by(server.process.pid))
            os.unlink(self.generation)
        self.assertIn("is gone", server.hear()["failed"])

    def _is_opened_by(self, pid):
        folder = f"/proc/{pid}/fd"
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                if os.readlink(f"{folder}/{name}") == self.generation:
                    return True
        return False

    def test_runs_are_marked_while_they_are_under_way(self):
        server = self.start()
        server.park()
        self.assertTrue(self.is_free(self.runs))
        server.say({"runs": True})
        self.wait_until(lambda: not self.is_free(self.runs))
        server.say({"runs": False})
        self.wait_until(lambda: self.is_free(self.runs))

    def test_a_mark_does_not_wait_for_who_deletes_the_environment(self):
        server = self.start()
        server.park()
        with open(self.runs) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            server.say({"runs": True})
            server.park().connection.close()
        self.assertFalse(self.is_free(self.generation))

    def test_neither_runs_nor_the_fork_server_have_its_files(self):
        server = self.start()
        supervisor = server.park()
        children = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, check=True).stdout.split()
        children = [int(pid) for pid, parent in zip(children[::2], children[1::2]) if int(parent) == server.process.pid]
        self.assertEqual([pid for pid in children if self._is_opened_by(pid)], [])
        self.assertTrue(self._is_opened_by(server.process.pid))
        answer = supervisor.run(f"open({self.generation!r})")
        self.assertIn(answer["report"]["exception"]["type"], ("FileNotFoundError", "PermissionError"))

    @unittest.skipUnless(os.getuid() == 0, "only root can become somebody else")
    def test_what_another_user_provides_is_served_without_a_lease(self):
        os.chmod(os.path.dirname(self.generation), 0o755)
        code = f"import sys; sys.path.insert(0, {str(python_half.FOLDER)!r})\nfrom pungi.run import lease\nimport os\nos.setuid(65534)\n"
        code += f"lease.Lease({{'generation': {self.generation!r}, 'runs': {self.runs!r}}}).mark_runs(True)\nprint('served')"
        served = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        self.assertEqual((served.stdout, served.stderr), (b"served\n", b""))


class Holder(unittest.TestCase):
    """With this interpreter; packages/core/tests/runtime/locks.test.ts says what the server sees of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pungi-test-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "lock")

    def start(self, **more):
        holder = subprocess.Popen(HOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env={}, cwd="/")
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        order = {"path": self.path, "exclusive": True, "create": True, "waitMs": None, **more}
        holder.stdin.write(json.dumps(order).encode() + b"\n")
        self.addCleanup(holder.stdin.close)
        return holder

    def hear(self, holder):
        return json.loads(holder.stdout.readline())

    def test_one_after_the_other_until_the_end_of_stdin(self):
        first = self.start()
        self.assertEqual(self.hear(first), {"held": True})
        second = self.start()
        self.assertEqual(self.hear(second), {"waiting": True})
        self.assertEqual(self.hear(self.start(waitMs=0)), {"busy": True})
        first.stdin.close()
        self.assertEqual(self.hear(second), {"held": True})
        self.assertEqual(first.wait(), 0)

    def test_ends_with_stdin_also_while_it_waits(self):
        first = self.start()
        self.assertEqual(self.hear(first), {"held": True})
        second = self.start()
        self.assertEqual(self.hear(second), {"waiting": True})
        second.stdin.close()
        self.assertEqual(second.wait(DEADLINE), 0)

    def test_many_share(self):
        for _ in range(3):
            self.assertEqual(self.hear(self.start(exclusive=False)), {"held": True})

    def test_a_file_that_is_not_to_be_made_is_gone(self):
        self.assertEqual(self.hear(self.start(create=False)), {"gone": True})


if __name__ == "__main__":
    unittest.main()
