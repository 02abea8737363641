"""Checkpoints and branches of a session: variables and files, in every tier; what cannot be copied is named before anything happens."""

import json
import os
import time
import unittest

import plain_case
from pungi.limits import watch
from pungi.run import frames
from serving import LIMITS
from test_session import COUNTING, KEPT, wait_for_stopped


ORPHAN = """
import os, time
if os.fork() == 0:
    os.setsid()
    if (orphan := os.fork()):
        open("pid", "w").write(str(orphan))
        os._exit(0)
    time.sleep(1000)
os.wait()
"""


END_ORPHAN = """
orphan = int(open("pid").read())
try:
    while True: os.kill(orphan, 9)
except ProcessLookupError: pass
"""


class Family:
    """A session and its branches."""

    def __init__(self, supervisor):
        self.supervisor = supervisor

    def run(self, code, branch="main", limits=LIMITS, **more):
        self.supervisor.start(code, limits, {**KEPT, "branch": branch}, session=True, **more)
        return self.supervisor.finish()

    def value(self, code, branch="main", **more):
        answer = self.run(code, branch, **more)
        assert answer["report"] and answer["report"]["status"] == 0, answer
        return (answer["report"].get("value") or {}).get("repr")

    def order(self, action, copy, branch="main", limits=LIMITS):
        said = json.dumps({**limits, **KEPT, "branch": branch}).encode()
        order = json.dumps({"action": action, "branch": branch, "copy": copy}).encode()
        self.supervisor.connection.sendall(frames.pack(frames.LIMITS, said) + frames.pack(frames.COPY, order))
        return self.supervisor.finish()["end"]

    def save(self, copy, branch="main", **more):
        return self.order("save", copy, branch, **more)

    def load(self, copy, branch="main", **more):
        return self.order("load", copy, branch, **more)

    def drop(self, *copies):
        order = json.dumps({"action": "drop", "copies": copies}).encode()
        self.supervisor.connection.sendall(frames.pack(frames.COPY, order))


class Copies(plain_case.PlainCase):
    def in_each_tier(self):
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                supervisor = server.park()
                yield Family(supervisor)
                supervisor.connection.close()

    def living(self):
        return {pid for pid in watch.descendants_of(os.getpid()) if not watch.is_ended(pid)}

    def saved(self, end, *names):
        self.assertEqual((end["obstacles"], end["isKept"], sorted(end.get("copies", []))), ([], True, sorted(names)), end)

    def test_a_checkpoint_brings_variables_and_files_back_as_often_as_wanted(self):
        for session in self.in_each_tier():
            session.run("import os\nx = [1]\nos.mkdir('d')\nopen('d/a.txt', 'w').write('one')\nos.symlink('d/a.txt', 'link')")
            self.saved(session.save("c1"), "c1")
            for _ in range(3):
                session.run("x.append(2)\nopen('d/a.txt', 'w').write('two')\nopen('new.txt', 'w').write('')\nos.unlink('link')")
                self.saved(session.load("c1"), "c1")
                self.assertEqual(session.value("x, open('link').read(), sorted(os.listdir())"), "([1], 'one', ['d', 'link', 'main.py', 'main_2.py'])")
            self.assertEqual(wait_for_stopped(2), 2)

    def test_state_that_a_fork_changes_is_that_of_the_checkpoint(self):
        code = """
import os, random
os.mkdir("sub")
os.chdir("sub")
random.seed(7)
file = open(os.__file__)
file.readline()
"""
        look = "random.random(), file.readline(), os.path.basename(os.getcwd()), os.listdir()"
        for session in self.in_each_tier():
            session.run(code)
            self.saved(session.save("c1"), "c1")
            before = session.value(look)
            session.run("os.chdir('..')\nos.rmdir('sub')")
            self.saved(session.load("c1"), "c1")
            self.assertEqual(session.value(look), before)
            self.assertEqual(session.value("os.getpid() == os.getpgid(0), os.wait", limits=LIMITS)[:6], "(True,")

    def test_a_session_that_dies_goes_on_from_its_checkpoint(self):
        endings = {
            "os._exit(3)": LIMITS,
            "os.kill(os.getpid(), 9)": LIMITS,
            "held = []\nwhile True: held.append(bytearray(1 << 20))": LIMITS,
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass": {**LIMITS, "timeoutMs": 300},
            "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'while True: pass'], start_new_session=True)\nos._exit(0)": LIMITS,
        }
        for session in self.in_each_tier():
            session.run("import os\nx = 1\nopen('a.txt', 'w').write('one')")
            self.saved(session.save("c1"), "c1")
            for code, limits in endings.items():
                end = session.run(f"x = 2\nopen('a.txt', 'w').write('two')\n{code}", limits=limits)["end"]
                self.assertEqual((end.get("isKept"), end["copies"]), (None, ["c1"]), (code, end))
                end = session.run("x")["end"]
                self.assertEqual((end["isKept"], end["obstacles"]), (False, ["its process was ended"]))
                self.assertEqual(wait_for_stopped(1), 1)
                self.saved(session.load("c1"), "c1")
                self.assertEqual(session.value("x, open('a.txt').read(), sorted(os.listdir())"), "(1, 'one', ['a.txt', 'main.py', 'main_2.py'])")

    def test_branches_have_variables_and_files_of_their_own(self):
        for session in self.in_each_tier():
            session.run("import os\nx = ['base']\nopen('a.txt', 'w').write('base')")
            self.saved(session.save("b"), "b")
            for word in ("one", "two"):
                for branch in ("main", "b"):
                    session.run(f"x.append('{branch[:1]}{word}')\nopen('a.txt', 'a').write('{branch[:1]}{word}')\nopen('{branch[:1]}{word}.txt', 'w')", branch)
            self.assertEqual(session.value("x, open('a.txt').read()"), "(['base', 'mone', 'mtwo'], 'basemonemtwo')")
            self.assertEqual(session.value("x, open('a.txt').read()", "b"), "(['base', 'bone', 'btwo'], 'basebonebtwo')")
            self.assertEqual(session.value("[name for name in os.listdir() if 'two' in name]", "b"), "['btwo.txt']")
            self.saved(session.save("c1", "b"), "c1", "main")
            session.run("x = None", "b")
            self.saved(session.load("c1", "b"), "c1", "main")
            self.assertEqual(session.value("x[-1]", "b"), "'btwo'")
            self.assertEqual(session.value("x[-1]"), "'mtwo'")
            session.drop("b", "c1")
            self.assertEqual(session.value("x[-1]"), "'mtwo'")
            self.assertEqual(wait_for_stopped(1), 1)

    def test_threads_and_children_of_a_branch_wait_with_it(self):
        code = COUNTING + """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
"""
        for session in self.in_each_tier():
            session.run("x = 1")
            self.saved(session.save("b"), "b")
            session.run(code)
            self.assertEqual(session.value("x", "b"), "1")
            self.assertEqual(wait_for_stopped(3), 3)
            self.assertEqual(session.value("before = count\nwhile count < before + 3: pass\nchild.poll()"), None)
            session.value("x", "b")
            session.drop("main")
            self.assertEqual(session.value("x", "b"), "1")
            self.assertEqual(wait_for_stopped(1), 1)

    def test_what_cannot_be_copied_is_named_and_nothing_happens(self):
        """The code, what is named, and what removes it."""
        cases = [
            ("import threading\nstop = threading.Event()\nt = threading.Thread(target=stop.wait)\nt.start()", "1 thread besides", "stop.set()\nt.join()"),
            ("import subprocess\nc = subprocess.Popen(['sleep', '1000'])", "1 child process: 'sleep'", "c.kill()\nc.wait()"),
            (ORPHAN, "1 child process: 'python", END_ORPHAN),
            ("f = open('log.txt', 'w')", "open: 'log.txt'", "f.close()"),
            ("f = open('main.py')", "open: 'main.py'", "f.close()"),
            ("import os\nr, w = os.pipe()", "open: a pipe, a pipe", "os.close(r)\nos.close(w)"),
            ("import socket\na, b = socket.socketpair()", "open: a socket, a socket", "a.close()\nb.close()"),
            ("import mmap\nm = mmap.mmap(-1, 4096)", "shared memory", "m.close()"),
            ("f = open('m', 'wb+')\nf.truncate(4096)\nimport mmap\nm = mmap.mmap(f.fileno(), 4096)\nf.close()", "m'", "m.close()"),
            ("import os\nsaved = os.dup(1)\nos.dup2(os.open('out', os.O_CREAT | os.O_WRONLY), 1)", "open: 'out'", "os.dup2(saved, 1)\nfor fd in range(3, 20):\n    try: os.close(fd)\n    except OSError: pass"),
        ]
        for session in self.in_each_tier():
            session.run("x = 1")
            for code, named, remove in cases:
                session.run(code)
                end = session.save("c1")
                self.assertIn(named, " ".join(end["obstacles"]), code)
                self.assertEqual((end["isKept"], end.get("copies", [])), (True, []), end)
                self.assertEqual(session.value("x"), "1")
                session.value(f"{remove}\nNone")
                end = session.save("c1")
                self.assertEqual((end["obstacles"], end.get("copies")), ([], ["c1"]), code)
                session.drop("c1")

    def test_the_disk_limit_holds_for_files_and_their_copies(self):
        for session in self.in_each_tier():
            session.run("import os\nopen('large', 'wb').write(os.urandom(6 << 20))\nopen('sparse', 'wb').truncate(1 << 24)")
            self.saved(session.save("c1"), "c1")
            end = session.save("c2")
            self.assertEqual((end["obstacles"], end["copies"]), (["files: the disk limit leaves no room for a copy of its files"], ["c1"]))
            self.assertEqual(session.value("os.path.getsize('large'), os.stat('sparse').st_blocks"), "(6291456, 0)")
            self.saved(session.load("c1"), "c1")
            self.assertEqual(session.value("os.path.getsize('large'), os.stat('sparse').st_blocks"), "(6291456, 0)")
            session.run("os.unlink('large')")
            self.saved(session.save("c2"), "c1", "c2")

    def test_copies_count_as_processes(self):
        for session in self.in_each_tier():
            limits = {**LIMITS, "processes": 4}
            session.run("x = 1", limits=limits)
            self.saved(session.save("c1", limits=limits), "c1")
            self.saved(session.save("c2", limits=limits), "c1", "c2")
            end = session.save("c3", limits=limits)
            self.assertEqual(end["obstacles"], ["the limit of 4 processes, which copies count as"])
            self.saved(session.load("c1", limits=limits), "c1", "c2")
            self.assertEqual(session.value("x", limits=limits), "1")

    def test_memory_that_copies_share_counts_once(self):
        limits = {**LIMITS, "memoryMb": 150}
        for session in self.in_each_tier():
            session.run("x = bytearray(range(256)) * (1 << 18)", limits=limits)  # 64 MB
            self.saved(session.save("c1", limits=limits), "c1")
            self.saved(session.save("c2", limits=limits), "c1", "c2")
            self.assertEqual(session.value("sum(x[::4096])", limits=limits), "0")
            # What is written to is no longer shared.
            end = session.run("y = bytearray(range(256)) * (1 << 18)\nx[:] = y\nz = bytes(x)", limits=limits)["end"]
            self.assertEqual(end["killedFor"], "memory")
            self.saved(session.load("c1", limits=limits), "c1", "c2")
            self.assertEqual(session.value("len(x)", limits=limits), str(1 << 26))


    def test_a_forged_answer_makes_no_checkpoint_of_something_else(self):
        """The worker's own code is foreign as soon as a script has run: it can say anything, and fork anything."""
        forge = """
import gc, os, time
ours = next(type(each) for each in gc.get_objects() if type(each).__name__ == "Session")._split.__globals__
before = ours["_fork"]
"""
        cases = {
            "says that it has paused, and does not fork": "ours.update(_fork=lambda: False)",
            "forks twice": (
                "real = os.fork\n"
                "def twice():\n"
                "    for _ in range(2):\n"
                "        if real() == 0:\n"
                "            if real(): os._exit(0)\n"
                "            time.sleep(1000)\n"
                "        os.wait()\n"
                "    return False\n"
                "ours.update(_fork=twice)"
            ),
        }
        for session in self.in_each_tier():
            for name, code in cases.items():
                with self.subTest(name):
                    family = Family(session.supervisor)
                    family.value(forge + code + "\nx = 1")
                    end = family.save("c1")
                    self.assertEqual((end["obstacles"], end.get("copies", [])), (["its process did not fork"], []))
                    self.assertEqual(family.value("x"), "1")
                    self.assertEqual(wait_for_stopped(1), 1)
                    family.value("ours.update(_fork=before)")

    def test_a_worker_that_hangs_in_a_fork_is_ended_within_its_limits(self):
        limits = {**LIMITS, "timeoutMs": 300}
        for session in self.in_each_tier():
            session.run("import os\nx = 1")
            self.saved(session.save("c1"), "c1")
            session.run("def hang():\n    while True: pass\nos.register_at_fork(before=hang)")
            end = session.save("c2", limits=limits)
            self.assertEqual((end["killedFor"], end["copies"]), ("timeout", ["c1"]))
            self.assertEqual(wait_for_stopped(1), 1)
            self.saved(session.load("c1"), "c1")
            self.assertEqual(session.value("x"), "1")

    def test_a_copy_that_hangs_is_ended_and_the_others_stay(self):
        limits = {**LIMITS, "timeoutMs": 300}
        for session in self.in_each_tier():
            session.run("import os\nx = 1\nforks, most = 0, 1 if os.getppid() == 1 else 2")
            self.saved(session.save("c1"), "c1")
            # The fork of its restoration hangs. In a namespace of its own a copy is one fork, else two.
            session.run("def hang():\n    global forks\n    forks += 1\n    while forks > most: pass\nos.register_at_fork(before=hang)")
            self.saved(session.save("c2"), "c1", "c2")
            end = session.load("c2", limits=limits)
            self.assertEqual((end["killedFor"], end["copies"]), ("timeout", ["c1"]))
            self.saved(session.load("c1"), "c1")
            self.assertEqual(session.value("x"), "1")

    def test_a_script_that_continues_or_kills_copies_harms_only_them(self):
        # Without the supervisor and the template of its workers, which it cannot signal.
        find = "[int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, 2, os.getpid())]"
        for session in self.in_each_tier():
            if session.supervisor.about["features"].count("pid-namespace") == 0:
                continue  # it cannot find them
            session.run("import os, signal\nx = 1")
            self.saved(session.save("c1"), "c1")
            self.saved(session.save("c2"), "c1", "c2")
            # Continued, they wait for a job, and are stopped again when this one is over.
            self.assertEqual(session.value(f"[os.kill(p, signal.SIGCONT) for p in {find}]"), "[None, None]")
            self.assertEqual(wait_for_stopped(3), 3)
            self.assertEqual(session.value("x"), "1")
            self.saved(session.load("c2"), "c1", "c2")
            session.run(f"[os.kill(p, 9) for p in {find}]")
            self.assertEqual(session.load("c1")["obstacles"], ["the checkpoint is gone, because its process was ended"])
            self.assertEqual(session.value("x"), "1")
            self.assertEqual(wait_for_stopped(1), 1)

    def test_a_checkpoint_that_was_killed_a_moment_ago_is_gone_and_the_session_stays(self):
        """The kernel takes a while to free the memory of a large process."""
        limits = {**LIMITS, "memoryMb": 1000}
        find = "[int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, 2, os.getpid())]"
        for session in self.in_each_tier():
            if session.supervisor.about["features"].count("pid-namespace") == 0:
                continue  # it cannot find it
            session.run("import os\nx = 1\nheld = b'x' * (300 << 20)", limits=limits)
            self.saved(session.save("c1", limits=limits), "c1")
            session.run(f"[os.kill(p, 9) for p in {find}]", limits=limits)
            self.assertEqual(session.load("c1", limits=limits)["obstacles"], ["the checkpoint is gone, because its process was ended"])
            self.assertEqual(session.value("x", limits=limits), "1")

    def test_a_copy_is_a_process_like_any_other(self):
        """libc and Python know its number; a thread of it can signal the first one."""
        code = """
import os, signal, threading
def knows_its_number(): return os.getpid() == int(os.readlink("/proc/self")) == threading.main_thread().native_id
signal.signal(signal.SIGUSR1, lambda *_: got.append(knows_its_number()))
def poke(): signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
"""
        for session in self.in_each_tier():
            session.run(code)
            self.saved(session.save("c1"), "c1")
            for restored in (False, True):
                if restored:
                    self.saved(session.load("c1"), "c1")
                told = "got = []\nthread = threading.Thread(target=poke)\nthread.start()\nthread.join()\ngot"
                self.assertEqual(session.value(told), "[True]")

    def test_unread_messages_of_a_dead_worker_do_not_reach_the_next_one(self):
        for session in self.in_each_tier():
            session.run("import os\nx = 1")
            self.saved(session.save("c1"), "c1")
            # The beginning of a frame, and a display whose answer nobody reads.
            session.run("report = max(map(int, os.listdir('/proc/self/fd')))\nos.write(report, b'\\0\\0\\0\\2d{}' + b'\\0\\0\\1\\0K')\nos.kill(os.getpid(), 9)")
            self.saved(session.load("c1"), "c1")
            self.assertEqual(session.value("x"), "1")

    def test_the_end_of_a_session_leaves_no_process_and_no_file(self):
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                before = self.living()
                session = Family(server.park())
                session.run("open('a.txt', 'w').write('x')")
                for copy in ("c1", "b"):
                    session.save(copy)
                session.run("y = 1", "b")
                session.save("c2", "b")
                self.assertEqual(wait_for_stopped(4), 4)
                session.supervisor.connection.close()
                until = time.monotonic() + 20
                while (left := self.living() - before) and time.monotonic() < until:
                    pass
                self.assertEqual(left, set())
                self.assertNotIn(f"supervisor-{server.serial}", os.listdir(server.work))

    def test_files_that_are_hard_to_copy(self):
        code = """
import os
os.symlink("/etc/passwd", "out")
os.symlink("nowhere", "dangling")
os.mkfifo("pipe")
os.link("main.py", "hard")
os.mkdir("ro")
open("ro/x", "w").write("kept")
os.chmod("ro/x", 0o400)
open(b"\\xff\\n".decode("utf-8", "surrogateescape"), "w").write("odd")
"""
        look = "sorted(ascii(name) for name in os.listdir() if 'main' not in name), os.readlink('out'), open('ro/x').read()"
        for session in self.in_each_tier():
            session.run(code)
            self.saved(session.save("c1"), "c1")
            session.run("import shutil\nfor name in os.listdir():\n    shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)")
            self.saved(session.load("c1"), "c1")
            self.assertEqual(session.value(look), """(["'\\\\udcff\\\\n'", "'dangling'", "'hard'", "'out'", "'ro'"], '/etc/passwd', 'kept')""")
            session.run("path = '.'\nfor _ in range(100):\n    path += '/d'\n    os.mkdir(path)")
            self.assertEqual(session.save("c2")["obstacles"], ["files: its folders are nested more than 64 deep"])
            self.saved(session.load("c1"), "c1")


if __name__ == "__main__":
    unittest.main()
