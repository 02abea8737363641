"""A session keeps its variables, imports, functions and files from one job to the next, in every tier."""

import contextlib
import os
import time
import unittest

import plain_case
from pungi.limits import watch
from pungi.run import frames
from serving import HINTS, LIMITS

KEPT = {**HINTS, "isKept": True}
# A thread that shows whether it runs.
COUNTING = """
import subprocess, sys, threading, time
count = 0
def work():
    global count
    while True:
        count += 1
        time.sleep(0.001)
threading.Thread(target=work, daemon=True).start()
"""


def wait_for_stopped(count):
    """How many processes below this one are stopped, once there are so many; a stop takes a moment."""
    until = time.monotonic() + 10
    while True:
        states = []
        for pid in watch.descendants_of(os.getpid()):
            with contextlib.suppress(OSError):  # it has ended
                states.append(watch.stat_fields(pid)[0])
        if states.count(b"T") == count or time.monotonic() > until:
            return states.count(b"T")


class Session:
    def __init__(self, supervisor):
        self.supervisor = supervisor

    def run(self, code, **more):
        self.start(code, **more)
        return self.supervisor.finish()

    def start(self, code, limits=LIMITS, **more):
        self.supervisor.start(code, limits, KEPT, session=True, **more)


class Sessions(plain_case.PlainCase):
    def in_each_tier(self):
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                supervisor = server.park()
                yield Session(supervisor)
                supervisor.connection.close()

    def expect(self, answer, stdout=b"", value=None, status=0, killed_for=None):
        self.assertEqual((answer["end"]["isKept"], answer["end"]["killedFor"]), (True, killed_for), answer)
        self.assertEqual((answer["stdout"], answer["report"]["status"]), (stdout, status), answer)
        self.assertEqual((answer["report"].get("value") or {}).get("repr"), value)

    def test_variables_imports_functions_and_files_stay(self):
        for session in self.in_each_tier():
            self.expect(session.run("import json\nx = 41\ndef f(): return x + 1\nopen('a.txt', 'w').write('hello')"), value="5")
            self.expect(session.run("print(json.dumps([f(), open('a.txt').read()]))"), b'[42, "hello"]\n')
            self.expect(session.run("x = 1\nf()"), value="2")

    def test_an_exception_ends_the_job_and_not_the_session(self):
        for session in self.in_each_tier():
            self.expect(session.run("def broken():\n    return 1 / 0\nkept = 7"))
            answer = session.run("\n\nbroken()")
            self.expect(answer, status=1)
            traceback = answer["report"]["exception"]["traceback"]
            self.assertIn('File "main_2.py", line 3, in <module>', traceback)
            self.assertIn("return 1 / 0", traceback)
            self.expect(session.run("import sys\nsys.exit(3)"), status=3)
            self.expect(session.run("kept"), value="7")

    def test_old_scripts_leave_no_files_but_the_lines_of_their_functions(self):
        for session in self.in_each_tier():
            self.expect(session.run("import inspect, os, sys, traceback"))
            self.expect(session.run("def broken():\n    return 1 / 0"))
            self.expect(session.run("pass"))
            self.expect(session.run("open('main_3.py', 'w').write('mine')"), value="4")
            for _ in range(60):
                self.expect(session.run("pass"))
            left = "sorted(int(name[5:-3]) for name in os.listdir() if name[:5] == 'main_')"
            self.expect(session.run(left), value=str([3, *range(18, 66)]))
            self.expect(session.run("inspect.getsource(broken)"), value=repr("def broken():\n    return 1 / 0\n"))
            shown = "try:\n    broken()\nexcept ZeroDivisionError:\n    text = traceback.format_exc()\n'return 1 / 0' in text"
            self.expect(session.run(shown), value="True")
            traceback = session.run("broken()")["report"]["exception"]["traceback"]
            self.assertIn('main_2.py", line 2, in broken', traceback)

    def test_an_empty_stdin_stays_as_it_is_and_a_closed_one_is_there_again(self):
        for session in self.in_each_tier():
            self.expect(session.run("import os, sys\nfirst = sys.stdin\nsys.stdin.read()"), value="''")
            self.expect(session.run("sys.stdin is first, sys.stdin.read()"), value="(True, '')")
            for spoil in ("sys.stdin.close()", "sys.stdin.detach()", "sys.stdin = None", "os.close(0)", "os.dup2(1, 0)"):
                self.expect(session.run(f"{spoil}\nNone"))
                self.expect(session.run("sys.stdin.read(), os.path.samestat(os.fstat(0), os.stat(os.devnull))"), value="('', True)")
            self.expect(session.run("input()", stdin="once\n"), value="'once'")
            self.expect(session.run("sys.stdin.read()"), value="''")

    def test_a_process_that_is_being_started_when_a_job_ends_is_stopped_too(self):
        """The script says that its job is over, and forks: with so much memory that takes a while."""
        code = "report = max(map(int, os.listdir('/proc/self/fd')))\nos.write(report, b'\\0\\0\\0\\2K{}')\nos.fork()\nwhile True: pass"
        limits = {**LIMITS, "memoryMb": 1000}
        for session in self.in_each_tier():
            self.expect(session.run("import os\nheld = b'x' * (300 << 20)\nNone", limits=limits))
            session.run(code, limits=limits)
            self.assertIn(wait_for_stopped(2), (1, 2))

    def test_stdin_arguments_and_files_are_those_of_the_job(self):
        for session in self.in_each_tier():
            self.expect(session.run("import sys\ninput()", stdin="first\n"), value="'first'")
            self.expect(session.run("sys.stdin.read(), sys.argv", argv=["-x"]), value="('', ['main_2.py', '-x'])")
            files = [{"path": "data/b.txt", "base64": "aGk="}]
            self.expect(session.run("open('data/b.txt').read()", files=files), value="'hi'")

    def test_a_job_that_takes_too_long_is_interrupted_and_the_session_survives(self):
        for session in self.in_each_tier():
            self.expect(session.run("import os, subprocess, time\nx = 1"))
            # As with Ctrl-C: the program that os.system has started ends, and Python goes on.
            endings = {"while True: pass": 1, "time.sleep(1000)": 1, "os.system('sleep 1000')": 0, "subprocess.run(['sleep', '1000'])": 1}
            for code, status in endings.items():
                answer = session.run(f"x += 1\nprint('begun', flush=True)\n{code}\nNone", limits={**LIMITS, "timeoutMs": 400})
                self.expect(answer, b"begun\n", status=status, killed_for="timeout")
                self.assertEqual(answer["report"].get("exception", {}).get("type"), "KeyboardInterrupt" if status else None)
            self.expect(session.run("x"), value="5")

    def test_cancelling_interrupts_and_the_session_survives(self):
        for session in self.in_each_tier():
            session.start("x = 5\nprint('begun')\nwhile True: pass")
            session.supervisor.expect(frames.STDOUT)
            session.supervisor.connection.sendall(frames.pack(frames.CANCEL))
            answer = session.supervisor.finish()
            self.expect(answer, status=1, killed_for="cancelled")
            self.expect(session.run("x"), value="5")

    def test_a_cancellation_that_comes_too_late_leaves_the_next_job_alone(self):
        for session in self.in_each_tier():
            for number in (1, 2, 3):
                self.expect(session.run(f"x = {number}\nx"), value=str(number))
                session.supervisor.connection.sendall(frames.pack(frames.CANCEL))

    def test_a_job_that_ignores_interrupts_ends_the_session(self):
        code = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
        for session in self.in_each_tier():
            answer = session.run(code, limits={**LIMITS, "timeoutMs": 300})
            self.assertEqual((answer["end"]["killedFor"], answer["end"].get("isKept")), ("timeout", None), answer)

    def test_cpu_time_counts_for_each_job(self):
        limits = {**LIMITS, "cpuMs": 800}
        work = "import time\nuntil = time.process_time() + 0.5\nwhile time.process_time() < until: pass"
        for session in self.in_each_tier():
            for _ in range(3):
                answer = session.run(work, limits=limits)
                self.expect(answer)
                self.assertGreater(answer["end"]["cpuMs"], 450)
            self.expect(session.run("while True: pass", limits=limits), status=1, killed_for="cpu")

    def test_too_much_output_interrupts_the_job(self):
        for session in self.in_each_tier():
            answer = session.run("while True: print('x' * 100)", limits={**LIMITS, "outputHardBytes": 50_000})
            self.assertEqual((answer["end"]["killedFor"], answer["end"]["isKept"]), ("output", True))
            self.assertEqual(len(answer["stdout"]), 50_000)
            self.expect(session.run("print('next')"), b"next\n")

    def test_too_much_memory_ends_the_session(self):
        for session in self.in_each_tier():
            self.expect(session.run("x = 1"))
            answer = session.run("held = []\nwhile True: held.append(bytearray(1 << 20))", limits={**LIMITS, "memoryMb": 100})
            self.assertEqual((answer["end"]["killedFor"], answer["end"].get("isKept")), ("memory", None))

    def test_nothing_of_a_session_runs_between_two_jobs(self):
        code = COUNTING + """
child = subprocess.Popen([sys.executable, "-c", "import time\\nwhile True: print(1, flush=True); time.sleep(0.001)"], stdout=open("log", "w"))
while not open("log").read(): pass
"""
        for session in self.in_each_tier():
            self.expect(session.run(code))
            # The worker and its child.
            self.assertEqual(wait_for_stopped(2), 2)
            self.expect(session.run("child.kill()\nchild.wait()"), value="-9")
            self.assertEqual(wait_for_stopped(1), 1)

    def test_a_session_that_ends_its_process_is_over(self):
        for session in self.in_each_tier():
            answer = session.run("import os\nos._exit(4)")
            self.assertEqual((answer["end"]["status"], answer["end"].get("isKept")), (4, None))

    def test_every_job_has_displays_of_its_own(self):
        for session in self.in_each_tier():
            for word in ("first", "second"):
                session.start(f"display({{'text/html': '{word}'}}, raw=True)")
                self.assertIn(word.encode(), session.supervisor.expect(frames.DISPLAY))
                self.expect(session.supervisor.finish())

    def test_a_thread_that_shows_all_the_time_takes_no_job_away(self):
        show = "def show():\n    while True:\n        display({'text/html': 'x'}, raw=True)\n        time.sleep(0.0001)\n"
        for session in self.in_each_tier():
            self.expect(session.run(f"import threading, time\n{show}threading.Thread(target=show, daemon=True).start()"))
            for number in range(60):
                self.expect(session.run(f"{number}"), value=f"{number}")

    def test_a_signal_that_another_thread_takes_before_the_script_begins_is_handled_by_the_script(self):
        ringing = """
import os, signal, threading, time
def ring(*_): raise ValueError("ring")
usual = signal.signal(signal.SIGUSR1, ring)
def work():
    while not os.path.exists("first"): time.sleep(0.0001)
    os.kill(os.getpid(), signal.SIGUSR1)
threading.Thread(target=work, daemon=True).start()
"""
        files = [{"path": "first", "base64": ""}, {"path": "second", "base64": "eHh4" * 4_000_000}]
        for session in self.in_each_tier():
            self.expect(session.run(ringing))
            answer = session.run("1", files=files)
            self.expect(answer, status=1)
            self.assertEqual(answer["report"]["exception"]["message"], "ring")
            self.expect(session.run("signal.getsignal(signal.SIGUSR1) is ring"), value="True")

    def test_handlers_and_threads_of_the_script_stay(self):
        code = "import signal\ncalled = []\nsignal.signal(signal.SIGINT, lambda *_: called.append(1))"
        for session in self.in_each_tier():
            self.expect(session.run(code), value="<built-in function default_int_handler>")
            self.expect(session.run("signal.raise_signal(signal.SIGINT)\ncalled"), value="[1]")


if __name__ == "__main__":
    unittest.main()
