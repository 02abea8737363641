import builtins
import contextlib
import inspect
import io
import traceback
import unittest

import python_half  # noqa: F401
from pungi.run import script


def run(source):
    """Returns what is reported of its last expression, and its variables."""
    return run_code(script.compile_source(source, "main.py"))


def run_code(code):
    ending, scope = script.Ending(), {"__builtins__": builtins}
    script.function_of(code, scope, ending)()
    if ending.error is not None:
        raise ending.error
    return ending.value and ending.value["json"], scope


class CompileSource(unittest.TestCase):
    def test_the_value_is_that_of_the_last_expression(self):
        value, scope = run("x = 20\nx + 1\nx * 2")
        self.assertEqual((value, scope["x"]), (40, 20))

    def test_without_a_last_expression_there_is_none(self):
        for source in ("", "x = 1", "# only words", "def f():\n    1", "for x in (1,):\n    x"):
            with self.subTest(source=source):
                self.assertIsNone(run(source)[0])

    def test_the_last_expression_runs_once_and_last(self):
        value, scope = run("seen = []\nseen.append(1)\nseen.append(2) or seen")
        self.assertEqual(value, [1, 2])

    def test_lines_are_those_of_the_source(self):
        code = script.compile_source("\n\nx = 1\n\n\n(x +\n len('a'))", "main.py")
        self.assertEqual(sorted({line for *_, line in code.co_lines() if line}), [3, 6, 7])
        self.assertEqual(code.co_filename, "main.py")

    def test_future_statements_of_the_source_hold(self):
        self.assertEqual(run("from __future__ import annotations\ndef f(x: undefined): pass\nf.__annotations__")[0], {"x": "undefined"})

    def test_a_docstring_alone_is_a_value(self):
        self.assertEqual(run('"""Words."""')[0], "Words.")

    def test_a_docstring_stays_one(self):
        self.assertEqual(run('"""Words."""\nfrom __future__ import annotations\n__doc__')[0], "Words.")

    def test_it_can_be_kept_as_bytecode_for_a_script_elsewhere(self):
        code = script.load(script.dump(script.compile_source("def f(): return 42\nf()", "main.py")), "/elsewhere/main.py")
        value, scope = run_code(code)
        self.assertEqual((value, scope["f"].__code__.co_filename), (42, "/elsewhere/main.py"))

    def test_a_declared_encoding_is_that_of_the_file(self):
        source = "# -*- coding: latin-1 -*-\nname = 'é'\nname"
        self.assertEqual(script.encode(source), source.encode("latin-1"))
        self.assertEqual(run(script.encode(source))[0], "é")

    def test_text_that_the_declared_encoding_lacks_is_kept(self):
        for cookie in ("ascii", "nonsense", "utf-8", "utf-8-sig"):
            source = f"# coding: {cookie}\n'ż'"
            self.assertEqual(script.encode(source).decode(), source)

    def test_what_does_not_compile_raises(self):
        for source in ("1 +", "return 1", "x = = 1", "if True:\nprint()"):
            with self.subTest(source=source), self.assertRaises(SyntaxError):
                script.compile_source(source, "main.py")

    def test_await_works_outside_of_a_function(self):
        sleep = "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x\n"
        many = "async def many():\n    for x in (1, 2):\n        yield x\n"
        context = "import contextlib\n@contextlib.asynccontextmanager\nasync def enter():\n    yield 6\n"
        for source, expected in (
            (f"{sleep}await f(4)", 4),
            (f"{sleep}x = await f(4)\nx + 1", 5),
            (f"{many}[x async for x in many()]", [1, 2]),
            (f"{many}total = 0\nasync for x in many():\n    total += x\ntotal", 3),
            (f"{context}async with enter() as x:\n    y = x\ny", 6),
            (f"from __future__ import annotations\n{sleep}await asyncio.gather(f(1), f(2))", [1, 2]),
            (f"{sleep}await f(1)\n__import__('asyncio').all_tasks() and 7", 7),
        ):
            with self.subTest(source=source):
                self.assertEqual(run(source)[0], expected)

    def test_what_awaits_can_be_kept_as_bytecode(self):
        source = "import asyncio\nasync def f(): return 42\nawait f()"
        self.assertEqual(run_code(script.load(script.dump(script.compile_source(source, "main.py")), "/elsewhere/main.py"))[0], 42)

    def test_what_does_not_await_is_no_coroutine(self):
        self.assertFalse(script.compile_source("async def f(): await f()\n1", "main.py").co_flags & inspect.CO_COROUTINE)

    def test_an_exception_of_awaiting_code_has_the_lines_of_the_script_only(self):
        ending = script.Ending()
        code = script.compile_source("async def f():\n    1 / 0\nawait f()", "main.py")
        script.function_of(code, {"__builtins__": builtins}, ending)()
        lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(ending.error.__traceback__)]
        self.assertEqual(lines, [("main.py", 3), ("main.py", 2)])

    def test_what_another_task_raises_ends_awaiting_code(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            run("import asyncio, sys\nasync def f(): sys.exit(3)\ntask = asyncio.create_task(f())\nawait asyncio.sleep(60)")

    def test_an_interrupt_of_awaiting_code_is_one(self):
        with self.assertRaises(KeyboardInterrupt):
            run("import asyncio, signal\nasyncio.get_running_loop().call_later(0.01, signal.raise_signal, 2)\nawait asyncio.sleep(60)")

    def test_what_does_not_compile_either_way_is_reported_as_plain_python_reports_it(self):
        for source in ("await x\nreturn 1", "def f():\n    await x", "lambda: await x", "await x\nyield 1"):
            with self.subTest(source=source), self.assertRaises(SyntaxError) as caught:
                script.compile_source(source, "main.py")
            with self.subTest(source=source), self.assertRaises(SyntaxError) as plain:
                compile(source, "main.py", "exec")
            self.assertEqual(str(caught.exception), str(plain.exception))

    def test_a_nul_raises_and_nothing_worse(self):
        with self.assertRaises((SyntaxError, ValueError)):
            script.compile_source("x = 1\0", "main.py")


if __name__ == "__main__":
    unittest.main()
