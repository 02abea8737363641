"""Many lines at once are written in blocks, and still arrive as soon as they are printed, whatever the run does next."""

import os
import unittest

import plain_case
from pungi import frames, stdout_parts
from serving import LIMITS

ROOM = {**LIMITS, "outputHardBytes": 40_000_000}
# Ends when stdout writes blocks: the last lines wait in its buffer.
BURST = "import os, signal, sys, time\nn = 0\nwhile sys.stdout.line_buffering:\n    n += 1\n    print('line', n)\nprint('last')\n"
# Nothing but a kill ends this: no signal is handled meanwhile.
NATIVE = "sum(range(10 ** 14))\n"
MANY = "for n in range(50_000): print(n)\n"
NUMBERS = "".join(f"{n}\n" for n in range(50_000)).encode()


def _where_they_differ(*texts):
    """A piece of each: unittest takes minutes to compare megabytes."""
    same = len(os.path.commonprefix(texts)) if len(set(texts)) > 1 else len(texts[0])
    return [(len(text), same, text[max(0, same - 40) : same + 80]) for text in texts]


class Bursts(plain_case.PlainCase):
    def each(self, code, **more):
        """What each tier answers; the burst at the beginning is checked and left out."""
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                answer = self.run_in(server, code, {**ROOM, **more})
                if code.startswith(BURST):
                    burst, last, rest = answer["stdout"].partition(b"last\n")
                    self.assertEqual(burst, b"".join(b"line %d\n" % (n + 1) for n in range(burst.count(b"\n"))))
                    answer["stdout"] = last + rest
                yield answer

    def assertPrints(self, code, expected):
        for answer in self.each(code):
            self.assertEqual((answer["end"]["status"], answer["stderr"]), (0, b""), answer["end"])
            self.assertEqual(*_where_they_differ(answer["stdout"], expected))

    def test_are_written_in_blocks_and_then_in_lines_again(self):
        self.assertPrints(BURST + "while not sys.stdout.line_buffering: time.sleep(0.001)\nprint('lines')", b"last\nlines\n")

    def test_arrive_complete_and_in_order(self):
        self.assertPrints(MANY, NUMBERS)
        self.assertPrints("for _ in range(20_000): print('x' * 50)", (b"x" * 50 + b"\n") * 20_000)
        pauses = "import time\nfor n in range(50_000):\n    print(n)\n    if n % 5000 == 0: time.sleep(0.005)"
        self.assertPrints(pauses, NUMBERS)

    def test_arrive_while_the_run_is_in_native_code(self):
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                supervisor = server.park()
                supervisor.start(BURST + NATIVE, ROOM)
                kind, printed = None, b""
                while not printed.endswith(b"last\n"):
                    kind, payload = supervisor.next()
                    self.assertNotEqual(kind, frames.END)
                    printed += payload if kind == frames.STDOUT else b""
                supervisor.connection.sendall(frames.pack(frames.CANCEL))
                answer = supervisor.finish()
                self.assertEqual((answer["end"]["killedFor"], answer["stdout"]), ("cancelled", b""))
                supervisor.connection.close()

    def test_are_complete_when_the_run_is_killed_in_native_code(self):
        for answer in self.each(BURST + NATIVE, timeoutMs=1000):
            self.assertEqual((answer["end"]["killedFor"], answer["stdout"]), ("timeout", b"last\n"))

    def test_are_not_printed_twice_when_they_are_written_after_all(self):
        self.assertPrints(BURST + "sum(range(10 ** 7))\nprint('after')\nsys.stdout.flush()\nprint('end')", b"last\nafter\nend\n")

    def test_keep_their_place_where_the_script_flushes(self):
        code = "sys.stdout.flush()\nos.write(1, b'two\\n')\nprint('three', flush=True)\nimport subprocess\nsubprocess.run(['echo', 'four'])\nprint('five')"
        self.assertPrints(BURST + code, b"last\ntwo\nthree\nfour\nfive\n")

    def test_go_where_the_script_has_redirected_stdout(self):
        code = (
            "sys.stdout.flush()\nkept = os.dup(1)\nfile = open('log', 'w+')\nos.dup2(file.fileno(), 1)\nprint('to the file')\n"
            "sum(range(10 ** 7))\nsys.stdout.flush()\nos.dup2(kept, 1)\nprint(repr(open('log').read()))"
        )
        self.assertPrints(BURST + code, b"last\n'to the file\\n'\n")

    def test_streams_may_be_replaced_detached_and_closed(self):
        self.assertPrints(BURST + "import io\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\nprint('new')", b"last\nnew\n")
        self.assertPrints(BURST + "sys.stdout = open(1, 'w', closefd=False)\nsys.__stdout__.flush()\nprint('new')", b"last\nnew\n")
        self.assertPrints(BURST + "sys.stdout.close()", b"last\n")
        self.assertPrints("import sys\nsys.stdout.reconfigure(line_buffering=False)\n" + MANY + "sys.exit(sys.stdout.line_buffering)", NUMBERS)

    def test_of_threads_keep_every_line_whole(self):
        code = "import threading\nfor t in range(4): threading.Thread(target=lambda: [sys.stdout.write(f'{n}\\n') for n in range(10_000)]).start()\n"
        for answer in self.each("import sys\n" + code):
            self.assertEqual(sorted(answer["stdout"].split()), sorted(NUMBERS.split()[:10_000] * 4))

    def test_forked_children_print_as_in_plain_python(self):
        code = "sys.stdout.flush()\nif os.fork() == 0:\n    print('child')\n    sys.exit()\nos.wait()\nprint('parent')"
        self.assertPrints(BURST + code, b"last\nchild\nparent\n")

    def test_another_program_takes_no_harm(self):
        code = f"sys.stdout.flush()\nos.execv(sys.executable, [sys.executable, '-c', {MANY!r}])"
        self.assertPrints(BURST + code, b"last\n" + NUMBERS)

    def test_scripts_that_do_not_take_the_signal_print_lines(self):
        self.assertPrints(f"import signal\nsignal.signal({stdout_parts.SIGNAL}, signal.SIG_DFL)\n{MANY}", NUMBERS)
        self.assertPrints(f"import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n{MANY}", NUMBERS)
        handler = f"import signal\ncalls = []\nsignal.signal({stdout_parts.SIGNAL}, lambda *_: calls.append(1))\n"
        self.assertPrints(f"{handler}{MANY}assert len(calls) < 2", NUMBERS)

    def test_a_worker_that_takes_the_signal_no_more_is_still_read(self):
        code = f"signal.signal({stdout_parts.SIGNAL}, signal.SIG_IGN)\nsys.stdout.flush()\nprint('in the buffer')\n"
        for answer in self.each(BURST + code + NATIVE, timeoutMs=1000):
            self.assertEqual((answer["end"]["killedFor"], answer["stdout"]), ("timeout", b"last\nin the buffer\n"))

    def test_show_no_frame_of_ours(self):
        code = "import sys\nfiles = set()\nsys.setprofile(lambda frame, *_: files.add(frame.f_code.co_filename))\n"
        self.assertPrints(code + MANY + "sys.setprofile(None)\nassert files == {__file__}, files", NUMBERS)


if __name__ == "__main__":
    unittest.main()
