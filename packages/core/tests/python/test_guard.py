"""The guard, with real fork servers of real environments: what packages do while they load, and what becomes of it."""

import os
import unittest

from environment_case import TO_GUARD, EnvironmentCase

# A folder is part of a module's name: what is preloaded of it shows whether anything of the failed half is left.
MODULES = {
    "fine": "a = 1",
    "half/__init__.py": "import fine\nfrom . import first\nfrom . import second",
    "half/first.py": "a = 1",
    "half/second.py": "raise OSError('no folder to write to')",
    "leaving": "raise SystemExit(3)",
    "gone": "import os\nos._exit(3)",
    "endless": "while True: pass",
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), name='keeper', daemon=True).start()",
    "joined": "import threading\nthread = threading.Thread(target=int)\nthread.start()\nthread.join()",
    "process": "import subprocess\nkept = subprocess.Popen(['/bin/sleep', '60'])",
    "program": "import subprocess\nsubprocess.run(['/bin/true'], check=True)",
    "hungry": "kept = []\nwhile True: kept.append(b'x' * 2**20)",
    "forking": "import os\nfor _ in range(9): os.fork()\nwhile True: pass",
    "loud": "import os\nwhile True: os.write(2, b'x' * 65536)",
    "repeating": TO_GUARD % "b'{\"notPreloaded\": \"fine\", \"isAbsent\": true}\\n' * 10_000",
    "nested": TO_GUARD % "b'[' * 4000 + b'\\n[1]\\n{\"at\": [5]}\\n{\"preloaded\": {}}\\n{\"notPreloaded\": [\"fine\"]}\\n'",
    "ready": (
        TO_GUARD % "b'{\"ready\": true}\\n'"
        + "import time\n"
        "time.sleep(0.5)\n"
        "if os.fork() == 0:\n"
        "    kept = [bytearray(b'x' * 2**20) for _ in range(300)]\n"
        "    time.sleep(60)\n"
        "os.wait()"
    ),
    "hooking": (
        "import os\n"
        "forked = []\n"
        "os.register_at_fork(before=lambda: forked.append('before'), after_in_child=lambda: forked.append('after'))"
    ),
    "hooking_below": (
        "import posix\n"
        "forked = []\n"
        "posix.register_at_fork(after_in_child=lambda: forked.append(posix.getpid()))"
    ),
    "tracing": "import tracemalloc",
    "homeless": "import os\ndel os.environ['HOME'], os.environ['TMPDIR']",
    "crowd": (
        "import os, sys, time\n"
        "supervisor = sys.modules['pungi.run.supervisor']\n"
        "start = supervisor.start\n"
        "def start_many(*about):\n"
        "    for _ in range(6):\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(60)\n"
        "            os._exit(0)\n"
        "    return start(*about)\n"
        "supervisor.start = start_many\n"
        "sys.modules['pungi.run.fork_server']._reap = lambda *about: None"
    ),
    "writing": "import os, tempfile\nprint(len(open(tempfile.mkstemp()[1], 'w').name), os.listdir(os.environ['HOME']))",
}


class Guard(EnvironmentCase):
    modules = MODULES

    def test_a_module_that_fails_leaves_nothing_of_itself(self):
        for server in self.each_tier("half", "fine"):
            self.assertEqual(self.loaded(server), (["fine"], {"half": "OSError: no folder to write to"}))
            answer = server.park().run("import sys\nprint([name for name in sys.modules if name.startswith('half')])")
            self.assertEqual(answer["stdout"], b"[]\n")

    def test_one_that_is_absent_is_said_to_be(self):
        for server in self.each_tier("no_such_module", "fine"):
            self.assertEqual(server.hear()["isAbsent"], True)
            self.assertEqual(self.loaded(server), (["fine"], {}))

    def test_one_that_ends_the_interpreter_is_left_out(self):
        self.assertRefused("leaving", "SystemExit: 3")
        self.assertRefused("gone", "it ended the interpreter")

    def test_one_that_never_comes_back_is_left_out(self):
        for server in self.each_tier("fine", "endless", "joined", preloadTimeoutMs=1000):
            preloaded, problems = self.loaded(server)
            self.assertEqual(preloaded, ["fine"])
            self.assertIn("it took longer than 1 seconds (PRELOAD_TIMEOUT_MS)", problems["endless"])
            self.assertEqual(problems["joined"], "no time was left after endless")

    def test_one_that_runs_bring_along_has_less_time(self):
        for server in self.each_tier("endless", "fine", surelyUsed=["endless"], longestImport=0.3):
            self.assertEqual(self.loaded(server), (["fine"], {"endless": "TimeoutError: it took longer than 0.3 seconds"}))

    def test_one_that_leaves_a_thread_is_left_out(self):
        self.assertRefused("thread", r"it leaves 1 threads running \(keeper\)")

    def test_one_that_leaves_a_process_is_left_out(self):
        self.assertRefused("process", "it leaves a process running")

    def test_one_that_takes_too_much_is_left_out(self):
        self.assertRefused("hungry", "it took more than 1024 MB of memory|MemoryError")
        self.assertRefused("forking", "it started more than 64 processes and threads")
        self.assertRefused("loud", "it printed more than 1 MB")

    def test_what_ends_in_order_is_loaded(self):
        names = ["joined", "program", "writing"]
        for server in self.each_tier(*names):
            self.assertEqual(self.loaded(server), (names, {}))

    def test_a_learned_module_is_loaded_whatever_packages_make_of_the_variables(self):
        for server in self.each_tier("homeless", "fine", learned=["fine"]):
            self.assertEqual(self.loaded(server), (["homeless", "fine"], {}))

    def test_a_pth_file_that_does_harm_is_named(self):
        for line, reason in (
            ("import sys; sys.exit(3)", "zz.pth ended the interpreter"),
            ("import endless", r"zz.pth took longer than 1 seconds"),
            ("import hungry", "zz.pth took more than 1024 MB of memory"),
            ("import forking", "zz.pth started more than 64 processes and threads"),
            ("import loud", "zz.pth printed more than 1 MB"),
            ("import os; os.fork() or __import__('time').sleep(60)", "left a process running"),
            ("import thread", "left a thread running"),
        ):
            path = os.path.join(self.site, "zz.pth")
            with open(path, "w") as file:
                file.write(f"{line}\n")
            self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
            for server in self.each_tier(preloadTimeoutMs=15_000 if "endless" not in line else 1000):
                with self.subTest(line=line):
                    said = server.hear()
                    self.assertRegex(said.get("failed", ""), reason)
                    self.assertTrue(said["byPackages"])
                    self.assertEqual(server.process.wait(20), 75)
                    self.assertEqual(os.listdir(server.work), [])

    def test_forged_words_neither_end_the_guard_nor_are_passed_on_again_and_again(self):
        for server in self.each_tier("nested", "fine"):
            self.assertEqual(self.loaded(server), (["nested", "fine"], {}))
        for server in self.each_tier("repeating", "fine"):
            reports = [server.hear() for _ in range(3)]
            self.assertEqual([said.get("notPreloaded") for said in reports], ["fine", "repeating", None])
            self.assertEqual(reports[1]["reason"], "it made more than 4096 reports")
            self.assertEqual([reports[2]["ready"], *reports[2]["preloaded"]], [True, "fine"])

    def test_who_takes_too_much_behind_a_forged_word_is_ended(self):
        for server in self.each_tier("ready", memoryMb=64):
            self.assertEqual(self.loaded(server), ([], {}))
            # It waits for the process that takes too much: only the guard ends that one.
            answer = server.park().run("print('served')")
            self.assertEqual(answer["stdout"], b"served\n")

    def test_warnings_of_a_run_are_the_same_whatever_its_packages_import(self):
        code = "import warnings\nasync def work(): pass\ndef end(): kept = work(); raise ValueError\nend()"
        for server in self.each_tier("tracing"):
            self.loaded(server)
            stderr = server.park().run(code)["stderr"]
            self.assertIn(b"never awaited", stderr)
            self.assertNotIn(b"tracemalloc", stderr)
            answer = server.park().run("import tracemalloc\ntracemalloc.start()\nprint(tracemalloc.is_tracing())")
            self.assertEqual(answer["stdout"], b"True\n")

    def test_what_packages_do_at_a_fork_is_done_for_every_run(self):
        for server in self.each_tier("hooking"):
            self.assertEqual(self.loaded(server), (["hooking"], {}))
            answer = server.park().run("import hooking\nprint(hooking.forked[-2:])")
            self.assertEqual(answer["stdout"], b"['before', 'after']\n")

        for server in self.each_tier("hooking_below"):
            answer = server.park().run("import hooking_below, os\nprint(hooking_below.forked[-1] == os.getpid())")
            self.assertEqual(answer["stdout"], b"True\n")

    def test_the_main_thread_has_the_number_of_its_process(self):
        for names in ((), ("hooking",)):
            for server in self.each_tier(*names):
                answer = server.park().run("import os, threading\nprint(threading.main_thread().native_id - os.getpid())")
                self.assertEqual(answer["stdout"], b"0\n")

    def test_more_processes_than_the_server_wants_end_the_fork_server(self):
        for server in self.each_tier("crowd", mostSupervisors=4):
            self.assertEqual(self.loaded(server), (["crowd"], {}))
            kept = server.park()
            self.assertIn("started processes in the fork server", server.hear()["failed"])
            self.assertEqual(server.process.wait(20), 75)
            kept.connection.close()

    def test_when_the_server_goes_nothing_is_left(self):
        for server in self.each_tier("fine"):
            self.loaded(server)
            server.park().connection.close()
            server.process.stdin.close()
            self.assertEqual(server.process.wait(20), 0)
            self.assertEqual(os.listdir(server.work), [])


if __name__ == "__main__":
    unittest.main()
