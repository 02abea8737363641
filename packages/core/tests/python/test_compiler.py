"""Sources that are written to hurt the compiler, and what it can reach."""

import marshal
import os
import resource
import tempfile
import unittest
import unittest.mock

import python_half  # noqa: F401
from pungi.jail import system
from pungi.tools import bytecode_store, compiler

SANDBOX_UID = 1_900_000_000
# Each of them is small in a wheel, since it repeats itself.
BOMBS = {
    "a table": "x = [" + "0," * 3_000_000 + "]",
    "brackets": "[" * 100_000,
    "signs": "x = " + "-" * 300_000 + "1",
    "sums": "x = " + "1+" * 300_000 + "1",
    "folding": "x = " + f"(({'9' * 4000}**9)**9)**9," * 200,
    "formats": "x = f'" + "{a}" * 200_000 + "'",
}


class Compiler(unittest.TestCase):
    def setUp(self):
        self.compiler = compiler.Compiler(SANDBOX_UID)
        self.addCleanup(self.compiler.close)

    def test_gives_what_the_interpreter_would(self):
        scope = {}
        exec(marshal.loads(self.compiler.compile(b"x = 6 * 7")), scope)
        self.assertEqual(scope["x"], 42)

    def test_goes_on_after_what_is_no_python(self):
        for source in (b"x = = 1", b"\x00", b"# coding: no-such-coding\n", b"\xff"):
            self.assertIsNone(self.compiler.compile(source))
        self.assertEqual(self.compiler.overruns, 0)
        self.assertIsNotNone(self.compiler.compile(b"x = 1"))

    def test_bombs_stay_within_their_bounds_and_the_next_source_is_compiled(self):
        for name, source in BOMBS.items():
            with self.subTest(bomb=name):
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                self.compiler.compile(source.encode())
                self.assertIsNotNone(self.compiler.compile(b"x = 1"))
                self.compiler.close()
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                self.assertLess(max(peak, before) // 1024, 700, "MB")

    def test_one_that_takes_too_long_is_given_up(self):
        with unittest.mock.patch.object(compiler, "_SECONDS", 0.2), unittest.mock.patch.object(compiler, "_compile", _never):
            self.assertIsNone(self.compiler.compile(b"x = 1"))
        self.assertEqual(self.compiler.overruns, 1)
        self.assertIsNotNone(self.compiler.compile(b"x = 1"))

    @unittest.skipUnless(system.IS_LINUX, "jails are Linux's")
    def test_reaches_nothing(self):
        with unittest.mock.patch.object(compiler, "_compile", _look_around):
            self.assertEqual(self.compiler.compile(b"x = 1"), b"held")

    def test_what_is_too_large_is_not_compiled(self):
        self.assertIsNone(self.compiler.compile(b"#" * (compiler.LARGEST_SOURCE + 1)))


class Store(unittest.TestCase):
    def test_many_bombs_do_not_take_the_time_of_each(self):
        asked = []

        class Losing(compiler.Compiler):
            def compile(self, source):
                asked.append(source)
                self.overruns += 1
                return None

        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(compiler, "Compiler", Losing):
            site = os.path.join(folder, "site")
            os.mkdir(site)
            for number in range(40):
                with open(os.path.join(site, f"m{number}.py"), "w") as file:
                    file.write(f"x = {number}")
            bytecode_store.fill(site, os.path.join(folder, "store"), SANDBOX_UID)
        self.assertLess(len(asked), 6)


def _never(_source):
    while True:
        pass


def _look_around(_source):
    """In the compiler's process: what it can do besides."""
    import socket

    done = []
    for what, attempt in {
        "read": lambda: open(__file__).read(),
        "list": lambda: os.listdir("/"),
        "write": lambda: open("/tmp/written-by-the-compiler", "w").write("x"),
        "socket": lambda: socket.socket(),
        "fork": lambda: os.fork() or os._exit(0),
        "program": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    }.items():
        try:
            attempt()
            done.append(what)
        except OSError:
            pass
    if os.getuid() == 0:
        done.append("root")
    return " ".join(done).encode() or b"held"


if __name__ == "__main__":
    unittest.main()
