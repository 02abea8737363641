"""The guard, with real fork servers of real environments: what packages do while they load, and what becomes of it."""

import mmap
import os
import subprocess
import sys
import tempfile
import unittest
import venv
from unittest import mock

import python_half  # noqa: F401
from child_case import Child
from pungi.jail import system
from pungi.limits import free_memory, load_limits
from serving import LOADING, SANDBOX_UID, Server

# Says something to the guard in the name of the fork server.
_TO_GUARD = (
    "import os, socket, stat\n"
    "for fd in range(3, 64):\n"
    "    try:\n"
    "        is_socket = stat.S_ISSOCK(os.fstat(fd).st_mode)\n"
    "    except OSError:\n"
    "        continue\n"
    "    if is_socket: socket.socket(fileno=os.dup(fd)).sendall(%s)\n"
)
# Asks the guard for files in the name of the fork server.
_ASKING = _TO_GUARD % "b'{\"memory\": %d}\\n' * 2" + (
    "    if is_socket: first, *others = [f for _ in 'ab' for f in socket.recv_fds(socket.socket(fileno=os.dup(fd)), 15, 1)[1]]\n"
)
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
    "repeating": _TO_GUARD % "b'{\"notPreloaded\": \"fine\", \"isAbsent\": true}\\n' * 10_000",
    "nested": _TO_GUARD % "b'[' * 4000 + b'\\n[1]\\n{\"at\": [5]}\\n{\"preloaded\": {}}\\n{\"notPreloaded\": [\"fine\"]}\\n'",
    "ready": (
        _TO_GUARD % "b'{\"ready\": true}\\n'"
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
    "large": "data = [[number] for number in range(600_000)]",
    "homeless": "import os\ndel os.environ['HOME'], os.environ['TMPDIR']",
    "mapping": (
        "import mmap\n"
        "kept = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "kept[:] = b'x' * len(kept)"
    ),
    "asking": _ASKING % (1 << 20) + (
        "try:\n"
        "    os.ftruncate(first, 2 << 20)\n"
        "except OSError as error:\n"
        "    said = error.strerror\n"
    ),
    "asking_and_hungry": _ASKING % (800 << 20) + "kept = bytearray(b'x' * (300 << 20))",
    "asking_and_gone": _TO_GUARD % "b'{\"memory\": 4096}\\n'" + "os._exit(3)",
    "asking_and_deaf": _TO_GUARD % "b'{\"memory\": 4096}\\n' * 4000" + "import time\ntime.sleep(1)",
    "asking_with_others": "import os, time\nif os.fork() == 0:\n    time.sleep(60)\n" + _ASKING % (1 << 20),
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


def _tiers():
    found = []
    for tier in ("namespace", "landlock"):
        server = Server(tier, python=_interpreter())
        try:
            server.park().connection.close()
            found.append(tier)
        except (AssertionError, OSError):
            pass
        finally:
            server.close()
    return found


def _interpreter():
    """In the landlock tier the sandbox's user reads the host's own files: as root, one that everybody can read is needed."""
    if os.getuid() != 0:
        return sys.executable
    readable = subprocess.run([sys.executable, "-c", ""], user=SANDBOX_UID, capture_output=True, check=False) if _is_open(sys.executable) else None
    return sys.executable if readable and readable.returncode == 0 else "/usr/bin/python3"


def _is_open(path):
    return path == "/" or bool(os.stat(path).st_mode & 0o001) and _is_open(os.path.dirname(path))


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class Guard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="pungi-test-")
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.folder = os.path.join(folder.name, "venv")
        subprocess.run([_interpreter(), "-I", "-m", "venv", "--without-pip", cls.folder], check=True)
        library = os.path.join(cls.folder, "lib")
        cls.site = os.path.join(library, os.listdir(library)[0], "site-packages")
        for name, source in MODULES.items():
            path = os.path.join(cls.site, name if "/" in name else f"{name}.py")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(source)
        cls.tiers = _tiers()
        assert cls.tiers, "no tier can be entered"

    def each_tier(self, *preload, **more):
        for tier in self.tiers:
            with self.subTest(tier=tier):
                server = Server(tier, preload, python=os.path.join(self.folder, "bin", "python"), isBare=False, **more)
                try:
                    yield server
                finally:
                    server.close()

    def loaded(self, server):
        """(what was preloaded, why others were not), when packages are loaded."""
        problems = {}
        while "ready" not in (said := server.hear()):
            self.assertNotIn("failed", said)
            problems[said["notPreloaded"]] = said["reason"]
        return list(said["preloaded"]), problems

    def assertRefused(self, name, reason, **more):
        for server in self.each_tier(name, "fine", **more):
            preloaded, problems = self.loaded(server)
            self.assertEqual(preloaded, ["fine"])
            self.assertRegex(problems.pop(name), reason)
            self.assertEqual(problems, {})
            answer = server.park().run(f"import sys\nprint('{name}' in sys.modules, 'fine' in sys.modules)")
            self.assertEqual(answer["stdout"], b"False True\n")

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

    def test_memory_of_packages_is_in_a_file_that_runs_have_in_common(self):
        # Nor do limits of files hold for it.
        for server in self.each_tier("fine", diskMb=8):
            self.loaded(server)
            answer = server.park().run("import fine\nfine.a += 1\nprint(fine.a, '/memfd:memory' in open('/proc/self/maps').read())")
            self.assertEqual(answer["stdout"], b"2 True\n")
            answer = server.park().run("import fine\nprint(fine.a)")
            self.assertEqual(answer["stdout"], b"1\n")

    def test_memory_of_packages_that_a_run_reads_is_none_that_it_took(self):
        # Objects of a process that took much memory are left to the kernel.
        code = "import large\nclass Ending:\n    def __del__(self): print('ended')\nkept = [Ending()]\nprint(sum(map(len, large.data)))"
        for server in self.each_tier("large"):
            self.loaded(server)
            self.assertEqual(server.park().run(code)["stdout"], b"600000\nended\n")

    def test_code_and_constants_of_a_library_are_one_mapping(self):
        code = (
            "import collections, re\n"
            "found = re.findall(r'-([0-9a-f]+) (\\S+) \\S+ \\S+ [1-9]\\d* +(/\\S+[.]so\\S*)', open('/proc/self/maps').read())\n"
            "print({access for _, access, _ in found}, max(collections.Counter(path for *_, path in found).values()) <= 2, len(found) > 5)"
        )
        for server in self.each_tier("fine"):
            self.loaded(server)
            self.assertEqual(server.park().run(code)["stdout"], b"{'r-xp'} True True\n")

    def test_the_interpreters_code_is_in_huge_pages_that_runs_have_in_common(self):
        code = (
            "import re\n"
            "print(len(re.findall(' r-xp .*/memfd:memory', open('/proc/self/maps').read())))\n"
            "try:\n"
            "    smaps = open('/proc/self/smaps').read()\n"
            "except OSError:\n"
            "    smaps = ''\n"
            "print(*re.findall(r' r-xp .*/memfd:memory.*\\n(?:[A-Z].*\\n)*?ShmemPmdMapped: +(\\d+)', smaps))"
        )
        for server in self.each_tier("fine"):
            self.loaded(server)
            mappings, huge = server.park().run(code)["stdout"].splitlines()
            self.assertEqual(int(mappings), 1)
            if huge:  # the landlock tier does not show it
                self.assertEqual(int(huge) > 0, _makes_huge_pages())

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

    def test_memory_that_packages_have_mapped_stays_theirs(self):
        for server in self.each_tier("mapping"):
            self.assertEqual(self.loaded(server), (["mapping"], {}))
            answer = server.park().run("import mapping, mmap\nmapping.kept.madvise(mmap.MADV_DONTNEED)\nprint(mapping.kept[0])")
            self.assertEqual(answer["stdout"], b"0\n")

    def test_packages_that_ask_for_a_file_get_one_of_fixed_size_which_counts_as_their_memory(self):
        for server in self.each_tier("asking"):
            self.assertEqual(self.loaded(server), (["asking"], {}))
            answer = server.park().run("import asking\nprint(asking.others, asking.said)")
            self.assertEqual(answer["stdout"], b"[] Operation not permitted\n")
        self.assertRefused("asking_and_hungry", "took more than 1024 MB of memory")

    def test_packages_that_ask_and_do_not_listen_do_not_end_the_guard(self):
        self.assertRefused("asking_and_gone", "it ended the interpreter")
        for server in self.each_tier("asking_and_deaf"):
            self.assertEqual(server.hear()["byPackages"], True)
            self.assertEqual(server.process.wait(20), 75)

    def test_packages_are_loaded_where_no_memory_is_left_for_a_copy_of_theirs(self):
        with mock.patch.object(free_memory, "free", lambda: 65 << 20):
            limits = load_limits.LoadLimits({**LOADING, "diskMb": 16}, "/nowhere")
            child = Child(self, inherits=False).pid
            self.assertEqual([limits.lends(child, size << 20) for size in (2, 1)], [False, True])

    def test_packages_get_no_file_while_processes_of_theirs_are_running(self):
        self.assertRefused("asking_with_others", "not enough values to unpack")

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


def _makes_huge_pages():
    """Whether the kernel does, when it is asked to."""
    try:
        area = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        area[:] = b"x" * len(area)
        area.madvise(25)  # MADV_COLLAPSE
        with open("/sys/kernel/mm/transparent_hugepage/shmem_enabled", encoding="ascii") as file:
            return "[deny]" not in file.read()
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
