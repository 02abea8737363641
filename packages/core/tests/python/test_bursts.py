"""Many lines at once are written in blocks, and nothing else about a run changes by that."""

import json
import re
import unittest

import plain_case
from pungi.run import frames
from serving import LIMITS

# Prints numbers until stdout writes blocks; `n` is the next one.
BURST = """
import os, sys, time
from os import fork
n, until = 0, time.monotonic() + 15
while sys.stdout.line_buffering and time.monotonic() < until:
    print(n)
    n += 1
assert not sys.stdout.line_buffering, "no burst began"
"""
ENDED = """
while not sys.stdout.line_buffering and time.monotonic() < until: time.sleep(0.001)
assert sys.stdout.line_buffering, "the burst did not end"
"""
# Nothing of a burst is left behind.
UNCHANGED = """
import _posixsubprocess, _thread, subprocess, threading
left = [os.system, os.kill, os.execv, _posixsubprocess.fork_exec, _thread.start_new_thread, sys.stdout.buffer.raw.write, sys.stderr.buffer.flush]
assert all(isinstance(each, type(print)) for each in left), left
while os.stat('/proc/self/task').st_nlink > 3 and time.monotonic() < until: pass
assert os.stat('/proc/self/task').st_nlink == 3
"""
MANY = "for n in range(5000): print('line', n)\n"
ROOMY = {**LIMITS, "outputHardBytes": 20_000_000}

AFTERWARDS = {
    "asleep": "time.sleep(1000)",
    "in Python": "while True: pass",
    "in C, without the interpreter's lock": "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'', b'', 1 << 30)",
    "waiting for input": "os.read(os.pipe()[0], 1)",
}
CHILDREN = {
    "subprocess": "import subprocess\nsubprocess.run(['echo', 'child'])",
    "subprocess without closing": "import subprocess\nsubprocess.run(['/bin/echo', 'child'], close_fds=False)",
    "system": "os.system('echo child')",
    "popen": "print(os.popen('echo child').read(), end='')",
    "a thread without threading": "import _thread\nlock = _thread.allocate_lock()\nlock.acquire()\n_thread.start_new_thread(lambda: [print('child'), lock.release()], ())\nlock.acquire()",
    "a fork that was imported before": "if fork() == 0:\n    print('child')\n    os._exit(0)\nos.wait()",
    "posix_spawn": "os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'child'], os.environ), 0)",
    "fork": "if os.fork() == 0:\n    print('child')\n    sys.stdout.flush()\n    os._exit(0)\nos.wait()",
    "fork, ending as a script": "if os.fork() == 0:\n    print('child')\n    sys.exit()\nos.wait()",
    "spawnlp": "os.spawnlp(os.P_WAIT, 'echo', 'echo', 'child')",
    "multiprocessing": "import multiprocessing\nchild = multiprocessing.get_context('fork').Process(target=print, args=('child',))\nchild.start()\nchild.join()",
    "a thread": "import threading\nchild = threading.Thread(target=print, args=('child',))\nchild.start()\nchild.join()",
}
TAKEN_OVER = {
    "reconfigured": "sys.stdout.reconfigure(line_buffering=True)",
    "reconfigured otherwise": "sys.stdout.reconfigure(encoding='latin-1', line_buffering=False)",
    "written through": "sys.stdout.reconfigure(write_through=True)",
    "detached": "import io\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), write_through=True)",
    "detached, by lines": "import io\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), line_buffering=True)",
    "detached wholly": "import io\nraw = sys.stdout.detach().detach()\nsys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=True)",
    "stderr detached": "sys.stderr.detach()\nsys.stderr = None",
    "wrapped": "import io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, line_buffering=True)",
    "opened anew": "sys.stdout.flush()\nsys.stdout = open(1, 'w', closefd=False)",
    "counter deleted": "vars(sys.stdout.buffer).clear()\nvars(sys.stdout.buffer.raw).clear()",
    "flush replaced": "sys.stdout.flush = lambda: None",
    "flush kept": "flush = sys.stdout.buffer.flush\nfor _ in range(3000): flush()",
    "an audit hook": "sys.addaudithook(lambda event, _: print(end='') if event != 'os.putenv' else None)",
    "a slow switch": "sys.setswitchinterval(0.5)",
}
ENDINGS = {
    "the end": "",
    "exit": "import sys\nsys.exit(3)",
    "an exception": "1 / 0",
    "an exit handler": "import atexit\natexit.register(lambda: [print('late', n) for n in range(5000)])",
    "an object": "class A:\n    def __del__(self): print('gone')\na = A()",
    "a thread": "import threading\nthreading.Thread(target=lambda: [print('late', n) for n in range(5000)]).start()",
    "a closed stdout": "import sys\nsys.stdout.close()",
    "half a line": "print('half', end='')",
    "bytes": "import sys\nsys.stdout.flush()\nsys.stdout.buffer.write(b'bytes')",
    "input": "print(repr(input('? ')))",
    "stderr": "import sys\nfor n in range(5000): print('error', n, file=sys.stderr)",
    "flushes": "for n in range(5000): print('flushed', n, flush=True)",
    "logs": "import logging, sys\nlogging.basicConfig(stream=sys.stdout)\nfor n in range(3000): logging.warning('%s', n)",
    "recursion": "def fall(n):\n    print(n)\n    fall(n + 1)\nfall(0)",
    "a captured output": "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as text: print('x')\nprint(text.getvalue())",
    "a caught interrupt": "import signal\ntry: signal.raise_signal(signal.SIGINT)\nexcept KeyboardInterrupt: print('caught')",
}


class Bursts(plain_case.PlainCase):
    def printed_after(self, code, **more):
        """What follows the numbers of a burst, in each tier. The numbers must be complete and in order."""
        for tier, text in self.run_everywhere(BURST + code, limits=ROOMY, **more):
            lines = text.splitlines()
            count = next((at for at, line in enumerate(lines) if line != str(at)), len(lines))
            yield tier, lines[count:]

    def test_begin_and_end(self):
        for _ in self.printed_after(ENDED + "print('then', os.stat('/proc/self/task').st_nlink)\n" + BURST + ENDED):
            self.assertRegex(" ".join(_[1]), r"^then [34] 0 1 ")

    def test_their_end_arrives_while_the_run_goes_on(self):
        for name, code in AFTERWARDS.items():
            for tier, server in self.servers.items():
                with self.subTest(name, tier=tier):
                    supervisor, text = server.park(), b""
                    supervisor.start(f"{BURST}print('half', end='')\n{code}", ROOMY)
                    while not text.endswith(b"half"):
                        kind, payload = supervisor.next()
                        self.assertEqual(kind, frames.STDOUT, payload)
                        text += payload
                    supervisor.connection.close()

    def test_their_end_arrives_when_the_run_is_stopped(self):
        for name in ("asleep", "in Python"):
            for tier, server in self.servers.items():
                with self.subTest(name, tier=tier):
                    answer = server.park().run(f"{BURST}print('half', end='')\n{AFTERWARDS[name]}", {**ROOMY, "cpuMs": 2000, "timeoutMs": 4000})
                    self.assertIn(answer["end"]["killedFor"], ("cpu", "timeout"))
                    self.assertTrue(answer["stdout"].endswith(b"half"), answer["stdout"][-100:])

    def test_come_before_what_is_started(self):
        for name, code in CHILDREN.items():
            with self.subTest(name):
                for _, rest in self.printed_after(f"print('before')\n{code}\nprint('after')\n{UNCHANGED}"):
                    self.assertEqual(rest, ["before", "child", "after"])

    def test_come_before_what_replaces_the_process(self):
        for _, rest in self.printed_after("print('before')\nos.execvp('echo', ['echo', 'child'])"):
            self.assertEqual(rest, ["before", "child"])

    def test_come_before_lines_of_stderr(self):
        code = "import os\nos.dup2(1, 2)\n" + BURST + "print('before')\nprint('error', file=sys.stderr)\nprint('after')"
        for _, text in self.run_everywhere(code, limits=ROOMY):
            self.assertTrue(text.endswith("\nbefore\nerror\nafter\n"), text[-100:])

    def test_threads_keep_their_lines(self):
        code = """
import threading
def say(name):
    for n in range(3000): sys.stdout.write(f"{name} {n}\\n")
threads = [threading.Thread(target=say, args=(name,)) for name in "abc"]
for thread in threads: thread.start()
for n in range(3000): sys.stdout.write(f"main {n}\\n")
for thread in threads: thread.join()
"""
        for _, rest in self.printed_after(code):
            for name in ("a", "b", "c", "main"):
                numbers = [line.split()[1] for line in rest if line.startswith(f"{name} ")]
                self.assertEqual(numbers, [str(n) for n in range(3000)])

    def test_a_script_may_take_the_stream_over(self):
        for name, code in TAKEN_OVER.items():
            for when, start in {"in a burst": BURST, "before": "import os, sys, time\n"}.items():
                with self.subTest(name, when=when):
                    after = "for n in range(4000): print('more', n)\ntime.sleep(0.05)\nfor n in range(3000): print('most', n)\n"
                    for _, text in self.run_everywhere(f"{start}{code}\n{after}", limits=ROOMY):
                        rest = re.sub(r"^(\d+\n)+", "", text).splitlines()
                        self.assertEqual(rest, [f"more {n}" for n in range(4000)] + [f"most {n}" for n in range(3000)])

    def test_leave_signals_to_the_script(self):
        code = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
signal.setitimer(signal.ITIMER_REAL, 0.001)
print(signal.sigwait([signal.SIGALRM]).name)
"""
        for _, rest in self.printed_after(code):
            self.assertEqual(rest, ["SIGALRM"])

    def test_lose_nothing_to_handlers(self):
        code = """
import signal
seen = 0
def count(*_):
    global seen
    seen += 1
signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for _ in range(50_000):
    print(n)
    n += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print('last', n)
"""
        for _, rest in self.printed_after(code):
            self.assertEqual(len(rest), 1, rest[:3])
            self.assertEqual(rest[0].split()[0], "last")

    def test_need_room_for_a_thread(self):
        for processes, expected in ((1, "True"), (2, "False")):
            code = "import sys\nfor n in range(20_000): print(n)\nprint(sys.stdout.line_buffering)"
            for _, server in self.servers.items():
                answer = self.run_in(server, code, {**ROOMY, "processes": processes})
                self.assertEqual((answer["end"]["killedFor"], answer["end"]["status"]), (None, 0))
                if processes == 1:
                    self.assertTrue(answer["stdout"].endswith(b"19999\nTrue\n"))

    def test_are_not_for_children(self):
        code = "import os, sys\nif os.fork() == 0:\n    for n in range(20_000): print(n)\n    print(sys.stdout.line_buffering)\n    os._exit(0)\nos.wait()"
        for _, text in self.run_everywhere(code, limits=ROOMY):
            self.assertTrue(text.endswith("19999\nTrue\n"))

    def test_without_end_are_ended_at_the_limit_of_output(self):
        for server in self.servers.values():
            answer = self.run_in(server, "n = 0\nwhile True:\n    print(n)\n    n += 1")
            self.assertEqual((answer["end"]["killedFor"], len(answer["stdout"])), ("output", LIMITS["outputHardBytes"]), json.dumps(answer["end"]))

    def test_endings_are_those_of_plain_python(self):
        for name, code in ENDINGS.items():
            with self.subTest(name):
                self.assertAsPlain(MANY + code, stdin="one\n")


if __name__ == "__main__":
    unittest.main()
