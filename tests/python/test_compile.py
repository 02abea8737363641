import marshal
import unittest

import python_half  # noqa: F401
from pungi import worker


def run(source):
    body, last = worker.compile_source(source, "main.py")
    scope = {}
    exec(body, scope)
    return (eval(last, scope) if last is not None else None), scope


class CompileSource(unittest.TestCase):
    def test_the_last_expression_is_apart(self):
        value, scope = run("x = 20\nx + 1\nx * 2")
        self.assertEqual((value, scope["x"]), (40, 20))

    def test_without_a_last_expression_there_is_none(self):
        for source in ("", "x = 1", "# only words", "def f():\n    1", "for x in (1,):\n    x"):
            with self.subTest(source=source):
                self.assertIsNone(worker.compile_source(source, "main.py")[1])

    def test_the_last_expression_runs_once_and_last(self):
        value, scope = run("seen = []\nseen.append(1)\nseen.append(2) or seen")
        self.assertEqual(value, [1, 2])

    def test_lines_are_those_of_the_source(self):
        body, last = worker.compile_source("\n\nx = 1\n\n\n(x +\n len('a'))", "main.py")
        self.assertEqual(sorted({line for *_, line in last.co_lines() if line}), [6, 7])
        self.assertEqual((body.co_filename, last.co_filename), ("main.py", "main.py"))

    def test_future_statements_of_the_source_hold(self):
        self.assertEqual(run("from __future__ import annotations\ndef f(x: undefined): pass\nf.__annotations__")[0], {"x": "undefined"})

    def test_a_docstring_alone_is_a_value(self):
        self.assertEqual(run('"""Words."""')[0], "Words.")

    def test_both_parts_can_be_kept_as_bytecode(self):
        body, last = marshal.loads(marshal.dumps(worker.compile_source("x = 6\nx * 7", "main.py")))
        scope = {}
        exec(body, scope)
        self.assertEqual(eval(last, scope), 42)

    def test_what_does_not_compile_raises(self):
        for source in ("1 +", "return 1", "x = = 1", "if True:\nprint()"):
            with self.subTest(source=source), self.assertRaises(SyntaxError):
                worker.compile_source(source, "main.py")

    def test_a_nul_raises_and_nothing_worse(self):
        with self.assertRaises((SyntaxError, ValueError)):
            worker.compile_source("x = 1\0", "main.py")


if __name__ == "__main__":
    unittest.main()
