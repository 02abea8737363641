"""The template of a supervisor's workers: what its workers share, what they do not, and what becomes of it if a run harms it."""

import json
import random
import unittest
from unittest import mock

import python_half  # noqa: F401
from pungi.jail import system
from pungi.run import fork_hooks, frames
from serving import HINTS, LIMITS, Server

# What others a run sees: the supervisor and the template.
OTHERS = "import os\nprint(*sorted({int(name) for name in os.listdir('/proc') if name.isdigit()} - {os.getpid()}))"
RANDOM = "import random\nprint(random.random())"
HARMS = {
    "nothing": "",
    "every process is killed": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "every process is stopped": "import os, signal\nos.kill(-1, signal.SIGSTOP)",
    "every process is sent signals that wait": "import os, signal\nfor _ in range(2000): os.kill(-1, signal.SIGRTMIN)",
    "a process stays behind": "import os, time\nif os.fork() == 0: time.sleep(60)",
    "it fails": "1 / 0",
    "it kills itself": "import os\nos.kill(os.getpid(), 9)",
    "it takes all the processes that it may have": "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(60)",
}
# What a run can do to a folder that the next one has, too.
TRACES = {
    "a file": "open(f'{folder}/left', 'w').close()",
    "a folder": "os.mkdir(f'{folder}/left')",
    "a mode": "os.chmod(folder, 0o755)",
    "times": "os.utime(folder, (1, 1))",
    "an attribute": "os.setxattr(folder, 'user.left', b'x')",
    "nothing": "open(f'{folder}/left', 'w').close(); os.unlink(f'{folder}/left')",
}
LOOK = (
    "import os\nfor folder in ('/work', '/tmp', '/dev/shm'):\n"
    "    about = os.stat(folder)\n    print(folder, oct(about.st_mode), about.st_mtime > 1, os.listxattr(folder), os.listdir(folder))"
)


@unittest.skipUnless(system.IS_LINUX and system.kernel_version() >= (5, 14), "needs namespaces that count their own tasks")
class Template(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("namespace")
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        self.supervisor = self.server.park()
        self.addCleanup(self.supervisor.connection.close)

    def run_next(self, code, **more):
        """Returns what it printed; None if its supervisor takes no more runs."""
        answer = self.supervisor.run_and_stay(code, **more)
        kind, _ = self.supervisor.next()
        self.assertIn(kind, (frames.PARKED, None))
        if kind is None:
            self.supervisor.connection.close()
            self.supervisor = self.server.park()
            self.addCleanup(self.supervisor.connection.close)
        return answer["stdout"].decode()

    def test_one_template_forks_the_workers_of_a_supervisor(self):
        seen = [self.run_next(OTHERS) for _ in range(3)]
        self.assertEqual(seen, ["1 2\n"] * 3)

    def test_workers_have_other_random_numbers(self):
        self.assertEqual(len({self.run_next(RANDOM) for _ in range(4)}), 4)

    def test_random_numbers_are_renewed_whatever_packages_have_made_of_the_module(self):
        before = random.getstate()
        with mock.patch.object(random, "seed"):
            fork_hooks.renew_all_random_numbers()
        self.assertNotEqual(random.getstate(), before)

    def test_children_of_a_run_have_other_random_numbers(self):
        code = f"import os\nread, write = os.pipe()\npid = os.fork()\n{RANDOM}\nif pid: os.waitpid(pid, 0)\nelse: sys.stdout.flush(); os._exit(0)"
        first, second = self.run_next(f"import sys\n{code}").split()
        self.assertNotEqual(first, second)

    def test_a_worker_has_its_own_pipes_and_nothing_of_the_template(self):
        code = "import os\nnames = sorted(map(int, os.listdir('/proc/self/fd')))\nprint([n for n in names if n != 3])"
        self.assertEqual([self.run_next(code) for _ in range(2)], ["[0, 1, 2, 1022, 1023]\n"] * 2)

    def test_a_worker_is_the_child_of_its_supervisor_and_leads_its_session(self):
        code = "import os, threading\nprint(os.getppid(), os.getsid(0) == os.getpgrp() == os.getpid(), threading.active_count())"
        self.assertEqual(self.run_next(code), "1 True 1\n")

    def test_the_main_thread_of_a_worker_knows_its_number(self):
        code = "import os, threading\nprint(threading.main_thread().native_id == threading.get_native_id() == os.getpid())"
        self.assertEqual([self.run_next(code) for _ in range(2)], ["True\n"] * 2)

    def test_threads_of_a_worker_work_as_always(self):
        code = "import threading\nt = threading.Thread(target=print, args=('x',))\nt.start()\nt.join()\nprint(threading.main_thread().is_alive())"
        self.assertEqual(self.run_next(code), "x\nTrue\n")

    def test_the_run_after_one_that_harmed_it_is_as_any_other(self):
        for harm, code in HARMS.items():
            with self.subTest(harm):
                self.run_next(code)
                template = int(self.run_next(OTHERS).split()[1])
                self.assertGreater(template, 1)
                self.assertEqual(self.run_next("print(6 * 7)"), "42\n")

    def test_a_run_finds_its_folders_as_new_whatever_the_one_before_it_did_to_them(self):
        new = self.run_next(LOOK)
        for trace, code in TRACES.items():
            with self.subTest(trace):
                self.run_next("")
                self.run_next(f"import os\nfor folder in ('/work', '/tmp', '/dev/shm'):\n    try: {code}\n    except OSError: pass")
                self.assertEqual(self.run_next(LOOK), new)

    def test_a_worker_that_is_parked_in_a_hurry_can_be_warmed_up(self):
        self.assertEqual(self.run_next("print(1)", hints={**HINTS, "isHurried": True}), "1\n")
        self.supervisor.connection.sendall(frames.pack(frames.WARM_UP))
        self.assertEqual(json.loads(self.supervisor.expect(frames.PARKED)), self.supervisor.about)
        self.assertEqual(self.run_next("print(2)"), "2\n")

    def test_a_run_can_have_as_many_processes_as_it_may(self):
        code = "import os, time\npids = []\nfor _ in range(7):\n    pid = os.fork()\n    if pid == 0: time.sleep(60)\n    pids.append(pid)\nprint(len(pids))\nfor pid in pids: os.kill(pid, 9)"
        self.assertEqual(self.run_next(code, limits=LIMITS | {"processes": 8}), "7\n")


if __name__ == "__main__":
    unittest.main()
