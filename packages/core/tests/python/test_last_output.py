"""Text after the last newline arrives when a run is stopped."""

import json
import signal
import unittest

import plain_case
from pungi.run import frames
from serving import LIMITS

PRINTS = "import sys\nprint('whole')\nsys.stdout.write('half')\nsys.stderr.write('err')\n"
BUSY = {
    "in Python": "while True: pass",
    "asleep": "import time\ntime.sleep(1000)",
    "waiting for a thread": "import threading\nthreading.Event().wait()",
    "waiting for input": "import os\nos.read(os.pipe()[0], 1)",
    "waiting for a child": "import subprocess\nsubprocess.run(['sleep', '1000'])",
    "in an exit handler": "import atexit, time\natexit.register(time.sleep, 1000)",
    "with a stream of its own": "import io, time\nsys.stdout = io.TextIOWrapper(open(1, 'wb', closefd=False))\nsys.stdout.write(' more')\ntime.sleep(1000)",
}


@unittest.skipUnless(hasattr(signal, "SIGRTMAX"), "there is no signal to ask with")
class LastOutput(plain_case.PlainCase):
    def run_stopped(self, *codes, **limits):
        """The answers of each tier, by runs at the same time."""
        supervisors = [server.park() for server in self.servers.values() for _ in codes]
        for number, supervisor in enumerate(supervisors):
            supervisor.start(codes[number % len(codes)], {**LIMITS, **limits})
        answers = [supervisor.finish() for supervisor in supervisors]
        for supervisor in supervisors:
            supervisor.connection.close()
        return answers

    def test_arrives_at_a_timeout(self):
        answers = self.run_stopped(*(PRINTS + code for code in BUSY.values()), timeoutMs=3000)
        for name, answer in zip([*BUSY] * len(self.servers), answers):
            with self.subTest(name):
                expected = b"whole\n morehalf" if "own" in name else b"whole\nhalf"
                self.assertEqual((answer["end"]["killedFor"], answer["stdout"], answer["stderr"]), ("timeout", expected, b"err"))

    def test_arrives_when_processor_time_is_used_up(self):
        for answer in self.run_stopped(PRINTS + BUSY["in Python"], cpuMs=300):
            self.assertEqual((answer["end"]["killedFor"], answer["stdout"]), ("cpu", b"whole\nhalf"))

    def test_arrives_when_the_run_is_cancelled(self):
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                supervisor = server.park()
                supervisor.start(PRINTS + BUSY["asleep"])
                kind, payload = supervisor.next()
                while kind != frames.STDOUT:
                    kind, payload = supervisor.next()
                supervisor.connection.sendall(frames.pack(frames.CANCEL))
                answer = supervisor.finish()
                self.assertEqual((answer["end"]["killedFor"], payload + answer["stdout"]), ("cancelled", b"whole\nhalf"))
                supervisor.connection.close()

    def test_a_run_that_does_not_listen_is_stopped_all_the_same(self):
        deaf = "import signal\nsignal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())\nwhile True: pass"
        stubborn = "import signal\nsignal.signal(signal.SIGRTMAX, signal.SIG_IGN)\nwhile True: pass"
        chatty = "import signal\nsignal.signal(signal.SIGRTMAX, lambda *_: [print('x' * 100) for _ in iter(int, 1)])\nwhile True: pass"
        for answer in self.run_stopped(deaf, stubborn, chatty, timeoutMs=300):
            self.assertIn(answer["end"]["killedFor"], ("timeout", "output"))

    def test_other_processes_of_the_run_do_nothing_meanwhile(self):
        code = PRINTS + (
            "import os, signal\nsignal.signal(signal.SIGRTMAX, lambda *_: [None for _ in iter(int, 1)])\n"
            "if os.fork() == 0:\n    n = 0\n    while True:\n        n += 1\nwhile True: pass"
        )
        for answer in self.run_stopped(code, timeoutMs=300):
            self.assertEqual(answer["end"]["killedFor"], "timeout", json.dumps(answer["end"]))


if __name__ == "__main__":
    unittest.main()
