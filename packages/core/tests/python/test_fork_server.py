"""The Python half as a whole, with this interpreter: a real fork server, spoken to as the server would."""

import base64
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import python_half  # noqa: F401
from pungi.jail import system
from pungi.limits import watch
from pungi.run import frames
from pungi.run.supervisor_channel import REPORT_FD
from serving import DEADLINE, HINTS, LIMITS, LOADING, SANDBOX_UID, Server, tier_that_works

NO_SOCKET = {"profile": "p", "blockedImports": ["socket"]}
SCOPED = {**HINTS, "isScoped": True}


def is_public(path):
    """Whether every user can read a folder."""
    return all(os.stat(folder).st_mode & 0o001 for folder in (path, *pathlib.Path(path).parents))


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class WithoutNamespaces(unittest.TestCase):
    @unittest.skipUnless(os.name == "posix" and (os.getuid() != 0 or is_public(sys.base_prefix)), "the sandbox's user cannot read this interpreter")
    def test_a_supervisor_that_is_killed_takes_its_run_along(self):
        server = Server("process")
        self.addCleanup(server.close)
        supervisor = server.park("stuck")
        self.addCleanup(supervisor.connection.close)
        supervisor.start("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)")
        run = int(supervisor.expect(frames.STDOUT))
        server.say({"kill": "stuck"})
        until = time.monotonic() + DEADLINE
        while not watch.is_ended(run):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class ForkServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tier = tier_that_works()
        assert cls.tier is not None, "no tier can be entered"
        cls.server = Server(cls.tier, preload=["decimal", "no_such_module"])
        cls.addClassCleanup(cls.server.close)

    def test_a_parked_worker_can_be_warmed_up_and_is_parked_again(self):
        supervisor = self.server.park("warm")
        for _ in range(2):
            supervisor.connection.sendall(frames.pack(frames.WARM_UP))
            self.assertEqual(json.loads(supervisor.expect(frames.PARKED)), supervisor.about)
        code = "import sys\nprint(sys.argv, sorted(globals()), sys.path[0] == '')"
        self.assertEqual(supervisor.run(code)["stdout"], self.server.park("cold").run(code)["stdout"])

    def test_a_run(self):
        supervisor = self.server.park("run-1")
        self.assertEqual(supervisor.hello, {"id": "run-1", "token": "token of run-1"})
        self.assertEqual(supervisor.about["python"], sys.version.split()[0])
        answer = supervisor.run(
            "import sys\nprint(__name__, sys.argv, context, input())\nprint('err', file=sys.stderr)\n6 * 7",
            argv=["a"], stdin="line\n", variables={"context": {"ż": None}},
        )
        self.assertEqual(answer["stdout"].decode(), "__main__ ['main.py', 'a'] {'ż': None} line\n")
        self.assertEqual(answer["stderr"], b"err\n")
        self.assertEqual(answer["report"]["value"], {"type": "int", "repr": "42", "json": 42})
        self.assertEqual((answer["end"]["status"], answer["end"]["killedFor"], answer["end"]["signal"]), (0, None, None))
        self.assertGreater(answer["end"]["peakBytes"], 1 << 20)

    def test_the_supervisor_is_behind_the_filter_too_and_a_worker_adds_its_own(self):
        if self.tier != "namespace":
            self.skipTest("elsewhere each worker brings its own")
        answer = self.server.park().run(
            "for pid in (1, 'self'):\n"
            "    for line in open(f'/proc/{pid}/status'):\n"
            "        if line.startswith(('Seccomp', 'NoNewPrivs')): print(*line.split())"
        )
        told = answer["stdout"].decode().splitlines()
        # The kernel tells how many filters there are since 5.9.
        self.assertEqual([line for line in told if "filters" not in line], ["NoNewPrivs: 1", "Seccomp: 2"] * 2)
        filters = [int(line.split()[1]) for line in told if "filters" in line]
        self.assertTrue(not filters or filters[1] == filters[0] + 2, told)  # one that asks about locks, and the last

    def test_a_run_does_not_see_in_which_cgroup_of_the_host_it_is(self):
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            ours = {line.rstrip("\n").split(":", 2)[2] for line in file} - {"/"}
        code = "try: print(open('/proc/self/cgroup').read())\nexcept OSError: print('refused')"
        seen = self.server.park().run(code)["stdout"].decode()
        self.assertEqual([path for path in ours if path in seen], [])

    def test_files_are_placed(self):
        content = os.urandom(3000)
        answer = self.server.park().run(
            "import hashlib\nprint(hashlib.sha256(open('a/b.bin', 'rb').read()).hexdigest())",
            files=[{"path": "a/b.bin", "base64": base64.b64encode(content).decode()}],
        )
        self.assertEqual(answer["stdout"].decode().strip(), hashlib.sha256(content).hexdigest())

    def test_preloaded_modules_are_there(self):
        answer = self.server.park().run("import sys\nprint('decimal' in sys.modules)")
        self.assertEqual(answer["stdout"], b"True\n")

    def test_an_exception(self):
        answer = self.server.park().run("def f():\n    return {}['key']\nf()\n")
        exception = answer["report"]["exception"]
        self.assertEqual((exception["type"], exception["line"], exception["text"]), ("KeyError", 2, "    return {}['key']"))
        self.assertEqual(exception["column"], 12 if sys.version_info >= (3, 11) else None)
        self.assertEqual(answer["end"]["status"], 1)

    def test_a_timeout_and_what_was_printed(self):
        answer = self.server.park().run("print('going')\nimport threading\nthreading.Event().wait()", {**LIMITS, "timeoutMs": 200})
        self.assertEqual((answer["end"]["killedFor"], answer["stdout"]), ("timeout", b"going\n"))

    def test_memory(self):
        answer = self.server.park().run("kept = []\nwhile True: kept.append(b'x' * 2**20)", {**LIMITS, "memoryMb": 64})
        self.assertEqual(answer["end"]["killedFor"], "memory")

    def test_processes(self):
        code = "import os, signal\nfor _ in range(9):\n    if os.fork() == 0:\n        while True: signal.pause()\nsignal.pause()"
        answer = self.server.park().run(code, {**LIMITS, "processes": 5})
        self.assertEqual(answer["end"]["killedFor"], "processes")

    def test_cancelling(self):
        supervisor = self.server.park()
        supervisor.start("print('going')\nimport signal\nsignal.pause()")
        self.assertEqual(supervisor.expect(frames.STDOUT), b"going\n")
        supervisor.connection.sendall(frames.pack(frames.CANCEL))
        self.assertEqual(supervisor.finish()["end"]["killedFor"], "cancelled")
        self.assertGone(supervisor)

    def test_output_arrives_while_a_run_locks_files_without_a_pause(self):
        supervisor = self.server.park("locking")
        self.addCleanup(supervisor.connection.close)
        lock = "fcntl.flock(file, fcntl.LOCK_EX); fcntl.flock(file, fcntl.LOCK_UN)"
        supervisor.start(f"import fcntl\nfile = open('x', 'w')\nprint('begins', flush=True)\nwhile True: {lock}", hints={**HINTS, "isHurried": True})
        self.assertEqual(supervisor.expect(frames.STDOUT), b"begins\n")
        supervisor.connection.sendall(frames.pack(frames.CANCEL))
        self.assertEqual(supervisor.finish()["end"]["killedFor"], "cancelled")

    def test_a_cancellation_that_comes_too_late_leaves_the_next_run_alone(self):
        supervisor = self.server.park()
        for text in ("1", "2"):
            answer = supervisor.run_and_stay(f"print({text})")
            self.assertEqual((answer["stdout"], answer["end"]["killedFor"]), (f"{text}\n".encode(), None))
            supervisor.expect(frames.PARKED)
            supervisor.connection.sendall(frames.pack(frames.CANCEL))

    def run_unread(self, code, limits):
        """A run whose output is not read before its processes have ended; what is told then."""
        before = set(watch.descendants_of(self.server.process.pid))
        supervisor = self.server.park()
        worker = max(set(watch.descendants_of(self.server.process.pid)) - before)
        supervisor.start(code, {**LIMITS, **limits})
        deadline = time.monotonic() + DEADLINE
        while not watch.is_ended(worker):
            self.assertLess(time.monotonic(), deadline, "nobody ended the run")
            time.sleep(0.01)
        return supervisor.finish()

    def test_limits_hold_while_the_server_does_not_read(self):
        flood = "\nwhile True: print('x' * 1000)"
        grow = (
            "import os, threading, time\n"
            "def grow():\n"
            "    kept = [(b'x' * (8 << 20), time.sleep(0.02)) for _ in range(60)]\n"
            "    os._exit(0)\n"
            "threading.Thread(target=grow).start()"
        )
        for code, limits, reason in (
            (grow + flood, {"memoryMb": 64, "outputHardBytes": 100_000_000}, "memory"),
            (flood, {"timeoutMs": 500, "outputHardBytes": 100_000_000}, "timeout"),
            ("import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()" + flood,
             {"cpuMs": 300, "outputHardBytes": 100_000_000}, "cpu"),
            (flood, {"outputHardBytes": 100_000}, "output"),
        ):
            with self.subTest(reason):
                answer = self.run_unread(code, limits)
                self.assertEqual(answer["end"]["killedFor"], reason)
                self.assertLess(answer["end"]["peakBytes"], 200 << 20)
                self.assertTrue(answer["stdout"].startswith(b"x" * 1000 + b"\n"))

    def test_what_was_printed_arrives_whole_however_late_it_is_read(self):
        supervisor = self.server.park()
        supervisor.start("for n in range(40_000): print(n)\n'the end'", {**LIMITS, "outputHardBytes": 10_000_000})
        answer = supervisor.finish()
        self.assertEqual(answer["stdout"].split(), [b"%d" % n for n in range(40_000)])
        self.assertEqual(answer["report"]["value"]["json"], "the end")

    def test_a_job_that_is_larger_than_a_pipe(self):
        text = "x" * 3_000_000
        self.assertEqual(self.server.park().run("print(len(context))", variables={"context": text})["stdout"], b"3000000\n")

    def test_one_worker_after_the_other_on_one_connection(self):
        supervisor = self.server.park()
        code = (
            "import os, sys, tempfile\n"
            "print(sorted(os.listdir('.')), os.listdir(tempfile.gettempdir()), hasattr(sys, 'left'), sys.argv)\n"
            "sys.left = 1\n"
            "for folder in ('.', tempfile.gettempdir()): open(os.path.join(folder, 'left'), 'w').write('x')\n"
            "os.makedirs('a/b'); os.chmod('a', 0); os.chmod('.', 0o500)\n"
        )
        for round in ("one", "two", "three"):
            answer = supervisor.run_and_stay(code, argv=[round], hints={**HINTS, "isHurried": round == "two"})
            self.assertEqual(answer["stdout"].decode(), f"['main.py'] [] False ['main.py', '{round}']\n", answer)
            self.assertEqual(answer["end"]["status"], 0, answer)
            self.assertEqual(json.loads(supervisor.expect(frames.PARKED)), supervisor.about)
        supervisor.connection.close()

    def test_a_run_that_failed_by_itself_is_followed_by_another(self):
        supervisor = self.server.park()
        for code, status in (("1/0", 1), ("import sys; sys.exit(3)", 3), ("x = = 1", 1)):
            answer = supervisor.run_and_stay(code)
            self.assertEqual((answer["end"]["status"], answer["end"]["killedFor"]), (status, None))
            supervisor.expect(frames.PARKED)
        self.assertEqual(supervisor.run("print('still here')")["stdout"], b"still here\n")

    def test_a_run_that_was_killed_is_the_supervisor_s_last(self):
        for code, limits, ending in (
            ("while True: pass", {**LIMITS, "timeoutMs": 200}, ("timeout", None)),
            ("while True: pass", {**LIMITS, "cpuMs": 100}, ("cpu", None)),
            ("while True: print('x' * 999)", {**LIMITS, "outputHardBytes": 50_000}, ("output", 9)),
            ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", LIMITS, (None, 11)),
        ):
            with self.subTest(ending):
                supervisor = self.server.park()
                end = supervisor.run_and_stay(code, limits)["end"]
                # Asked to write its last output, it ends by itself; one that is slow to do so is killed.
                signal = None if ending[1] is None and end["signal"] == 9 else end["signal"]
                self.assertEqual((end["killedFor"], signal), ending)
                self.assertGone(supervisor)

    def test_a_report_that_is_longer_than_it_may_be_is_not_believed(self):
        supervisor = self.server.park()
        supervisor.start("'x' * 5000", hints={**HINTS, "reportBytes": 1000})
        answer = supervisor.finish()
        self.assertEqual((answer["report"], answer["end"]["status"]), (None, 0))
        self.assertEqual(self.server.park().run("'x' * 5000")["report"]["value"]["json"], "x" * 5000)

    def test_files_have_their_full_path_and_tracebacks_the_plain_name(self):
        answer = self.server.park().run("import os\nprint(__file__ == os.path.join(os.getcwd(), 'job.py'))\n1/0", filename="job.py")
        self.assertEqual(answer["stdout"], b"True\n")
        self.assertIn('File "job.py", line 3', answer["report"]["exception"]["traceback"])

    def assertGone(self, supervisor):
        self.assertEqual(supervisor.next(), (None, b""))
        supervisor.connection.close()

    def test_threads_and_subprocesses(self):
        code = (
            "import subprocess, sys, threading\n"
            "thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
            "print(subprocess.check_output([sys.executable, '-I', '-c', 'print(1 + 1)']))\n"
        )
        self.assertEqual(self.server.park().run(code)["stdout"], b"thread\nb'2\\n'\n")

    def test_descriptors_can_be_passed_while_processes_compute(self):
        if self.tier != "namespace":
            self.skipTest("elsewhere no descriptor can be passed")
        compute = (
            "import multiprocessing, socket, time\n"
            "def compute(seconds):\n"
            "    until = time.process_time() + seconds\n"
            "    while time.process_time() < until: sum(range(1_000_000))\n"
            "    return 1\n"
        )
        waiting = "here, there = socket.socketpair()\nsocket.send_fds(here, [b'x'], [0])\nprint(compute(0.5))"
        pool = (
            "if __name__ == '__main__':\n"
            "    with multiprocessing.get_context('forkserver').Pool(8) as pool: print(sum(pool.map(compute, [0.2] * 8)))"
        )
        for code, memory_mb, expected in ((waiting, 64, b"1\n"), (pool, 256, b"8\n")):
            with self.subTest(expected):
                answer = self.server.park().run(compute + code, {**LIMITS, "memoryMb": memory_mb})
                self.assertEqual((answer["stdout"], answer["end"]["killedFor"]), (expected, None), answer)

    def test_precompiling(self):
        compiled = self.server.park().run("x = 6\nx * 7", task="compile")["report"]["bytecode"]
        answer = self.server.park().run("x = 6\nx * 7", bytecode=compiled)
        self.assertEqual(answer["report"]["value"]["json"], 42)
        broken = self.server.park().run("x = = 1", task="compile")
        self.assertEqual(broken["report"]["exception"]["type"], "SyntaxError")

    def test_code_outside_of_its_scope_is_not_run(self):
        supervisor = self.server.park()
        answer = supervisor.run_and_stay("print('ran')\nimport socket", hints=SCOPED, rules=NO_SOCKET, summarize=True)
        self.assertEqual((answer["stdout"], answer["end"]["status"], answer["end"]["killedFor"]), (b"", 1, None))
        self.assertEqual(answer["report"]["violations"], [{
            "line": 2, "column": 1, "rule": "import", "what": "socket", "message": 'the profile "p" blocks the import of socket',
        }])
        self.assertEqual([each["imports"] for each in answer["summaries"]], [["socket"]])
        supervisor.expect(frames.PARKED)
        self.assertEqual(supervisor.run("import socket\nprint('free')")["stdout"], b"free\n")

    def test_code_that_leaves_its_scope_ends_with_all_of_its_processes(self):
        for code in (
            "print('before')\n__import__(str('soc') + 'ket')\nprint('after')",
            "import os, signal\nprint('before', flush=True)\nif os.fork() == 0: __import__(str('soc') + 'ket')\nsignal.pause()",
        ):
            with self.subTest(code=code):
                supervisor = self.server.park()
                answer = supervisor.run_and_stay(code.replace("str('soc')", "input()"), hints=SCOPED, rules=NO_SOCKET, stdin="soc")
                self.assertEqual((answer["stdout"], answer["end"]["killedFor"]), (b"before\n", "scope"))
                self.assertEqual([each["what"] for each in answer["report"]["violations"]], ["socket"])
                self.assertGone(supervisor)

    def test_a_script_that_closes_every_descriptor_it_can_have_is_heard(self):
        code = "import os, resource\nos.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[1])\nopen(os.devnull).fileno()"
        self.assertEqual(self.server.park().run(code)["report"]["value"]["json"], 3)

    def test_a_script_that_is_called_like_a_loaded_module_imports_itself(self):
        code = "import random\nprint(__name__, random.__file__ == __file__)"
        self.assertEqual(self.server.park().run(code, filename="random.py")["stdout"], b"random True\n__main__ True\n")

    def test_a_file_beside_a_script_with_rules_hides_no_loaded_module(self):
        file = {"path": "random.py", "base64": base64.b64encode(b"seed = None").decode()}
        answer = self.server.park().run("import random\nprint(random.seed is None)", hints=SCOPED, rules=NO_SOCKET, files=[file])
        self.assertEqual(answer["stdout"], b"False\n")

    def test_pythonpath_is_added_but_not_under_rules(self):
        code, variables = "import sys\nprint(sys.path[1].endswith('/lib'))", {"PYTHONPATH": "lib"}
        self.assertEqual(self.server.park().run(code, env=variables)["stdout"], b"True\n")
        self.assertEqual(self.server.park().run(code, env=variables, hints=SCOPED, rules=NO_SOCKET)["stdout"], b"False\n")

    def test_a_violation_is_not_believed_of_code_without_a_scope(self):
        code = f"import os\nos.write({REPORT_FD}, b'\\x00\\x00\\x00\\x02V{{}}')\nprint('went on')"
        answer = self.server.park().run(code)
        self.assertEqual((answer["stdout"], answer["report"], answer["end"]["killedFor"]), (b"went on\n", {}, None))

    def test_only_the_first_summary_is_passed_on(self):
        code = f"import os\nfor _ in range(1000): os.write({REPORT_FD}, b'\\x00\\x00\\x00\\x02S{{}}')"
        answer = self.server.park().run(code, summarize=True)
        self.assertEqual([each["imports"] for each in answer["summaries"]], [["os"]])

    def test_looking_at_code_without_running_it(self):
        answer = self.server.park().run("import socket\nprint('ran')", task="check", rules=NO_SOCKET)
        self.assertEqual((answer["stdout"], answer["end"]["status"]), (b"", 0))
        self.assertEqual([each["line"] for each in answer["report"]["violations"]], [1])
        self.assertEqual(answer["report"]["summary"]["imports"], ["socket"])
        broken = self.server.park().run("x = = 1", task="check")
        self.assertEqual(broken["report"]["exception"]["type"], "SyntaxError")

    def test_what_a_profile_imports_is_there(self):
        imports = ["math", "os.path as p", "collections.abc", "no_such_module", "no_such.part as n"]
        answer = self.server.park().run(
            "print(math.pi > 3, p.sep, collections.abc.__name__, 'n' in dir(), no_such_module)",
            imports=imports, variables={"math": "hidden", "no_such_module": "kept"},
        )
        self.assertEqual(answer["stdout"], b"True / collections.abc False kept\n")

    def test_foreign_code_is_never_root(self):
        answer = self.server.park().run("import os\nprint(os.getuid(), os.geteuid(), os.getgroups())")
        uid, euid, groups = answer["stdout"].decode().split(" ", 2)
        self.assertNotEqual((uid, euid), ("0", "0"))
        if os.getuid() == 0:
            self.assertEqual((uid, euid), (str(SANDBOX_UID), str(SANDBOX_UID)))

    def test_a_supervisor_whose_server_hangs_up_is_gone(self):
        supervisor = self.server.park("left")
        supervisor.connection.close()
        self.assertEqual(self.server.park("next").run("print(1)")["stdout"], b"1\n")
        (own,) = os.listdir(self.server.work)
        self.assertNotIn("left", os.listdir(os.path.join(self.server.work, own)))

    def test_a_supervisor_that_has_ended_is_collected_without_another_order(self):
        self.addCleanup(self.server.park("staying").connection.close)  # the fork server itself is there by now
        before = set(watch.descendants_of(self.server.process.pid))
        supervisor = self.server.park("ending")
        started = set(watch.descendants_of(self.server.process.pid)) - before
        self.assertTrue(started)
        supervisor.connection.close()
        until = time.monotonic() + DEADLINE
        while started & set(watch.descendants_of(self.server.process.pid)):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class DataFolders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pungi-test-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.folder = os.path.join(os.path.realpath(folder.name), "sales")
        os.mkdir(self.folder, 0o755)
        with open(os.path.join(self.folder, "rows.csv"), "w") as file:
            file.write("a,b")

    @classmethod
    def setUpClass(cls):
        cls.tier = tier_that_works()
        assert cls.tier is not None, "no tier can be entered"

    def start(self, path):
        server = Server(self.tier, data=[{"name": "sales", "path": path}])
        self.addCleanup(server.close)
        return server

    def test_are_found_in_every_run_and_cannot_be_written(self):
        supervisor = self.start(self.folder).park()
        code = (
            "print(open('data/sales/rows.csv').read())\n"
            "for path in ('data/sales/new', 'data/sales/rows.csv'):\n"
            "    try: open(path, 'w').write('x'); print('written')\n"
            "    except OSError: pass\n"
            "import os\nos.rename('data', 'elsewhere')"
        )
        for _ in range(2):
            self.assertEqual(supervisor.run_and_stay(code)["stdout"], b"a,b\n")
            supervisor.expect(frames.PARKED)
        supervisor.connection.close()
        self.assertEqual(os.listdir(self.folder), ["rows.csv"])

    def test_what_is_no_folder_or_a_link_ends_the_fork_server_with_a_sentence(self):
        link = self.folder + "-link"
        os.symlink(self.folder, link)
        for path in (link, self.folder + "/rows.csv", self.folder + "/absent", os.path.join(link, ".")):
            with self.subTest(path=path):
                with self.assertRaisesRegex(AssertionError, 'the data folder "sales"'):
                    self.start(path).park()

    @unittest.skipUnless(os.getuid() == 0, "only root's runs have another identity")
    def test_what_the_sandbox_s_user_cannot_read_ends_the_fork_server_with_a_sentence(self):
        os.chmod(self.folder, 0o700)
        with self.assertRaisesRegex(AssertionError, "cannot read the data folder"):
            self.start(self.folder).park()


@unittest.skipUnless(system.IS_LINUX, "tiers of this kind are Linux's")
class Refusals(unittest.TestCase):
    def test_an_interpreter_that_would_show_the_home_is_refused_with_one_line_of_json(self):
        settings = {
            "tier": "namespace", "socket": os.devnull, "workBase": tempfile.gettempdir(), "preload": [], "roots": ["/"], "diskMb": 16, "isBare": True,
            "uid": SANDBOX_UID, "data": [], "network": None, **LOADING,
        }
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(python_half.FOLDER), "fork-server"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdin.write(json.dumps(settings).encode() + b"\n")
            process.stdin.flush()
            self.assertIn("would make / visible", json.loads(process.stdout.readline())["failed"])
            self.assertEqual(process.wait(DEADLINE), 75)


if __name__ == "__main__":
    unittest.main()
