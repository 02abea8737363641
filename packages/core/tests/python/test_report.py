import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

import python_half  # noqa: F401
from pungi.run import report, script
from pungi.calls.endings import exit_status
from pungi.calls.shown import cut_middle

# Positions came with Python 3.11.
HAS_COLUMNS = sys.version_info >= (3, 11)


def described(source):
    """What is said of the exception that the source raises, run as the worker runs it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "main.py")
        return report.describe_exception(raised(script.write(path, source), path), path)


def raised(source, path):
    ending = script.Ending()
    with ending:
        code = script.compile_source(source, path)
    if ending.error is None:
        script.function_of(code, vars(script.make_main(path)), ending)()
    elif ending.error.__traceback__ is not None:
        # The worker's own frames are taken out; this one would stand before them.
        ending.error.__traceback__ = ending.error.__traceback__.tb_next
    return ending.error


class Value(unittest.TestCase):
    def test_plain_data_is_given_as_json_too(self):
        for value in (True, 7, 1.5, "ż", [1, [None]], {"a": {"b": []}}):
            about = report.describe_value(value)
            self.assertEqual(about, {"type": type(value).__name__, "repr": repr(value), "json": value})

    def test_what_json_cannot_say_is_only_shown(self):
        circle = []
        circle.append(circle)
        for value in ((1,), {1}, b"x", float("inf"), [float("nan")], circle, object, {"a": 1j}, {(1, 2): 3}):
            with self.subTest(value=value):
                self.assertNotIn("json", report.describe_value(value))

    def test_what_is_nested_too_deep_for_some_reader_is_only_shown(self):
        value = {"deepest": []}
        for _ in range(98):
            value = [value]
        self.assertEqual(report.describe_value(value)["json"], value)
        self.assertNotIn("json", report.describe_value([value]))
        self.assertNotIn("json", report.describe_value({"a": 1, "b": value}))

    def test_an_integer_beyond_what_a_json_reader_keeps_exactly_is_only_shown(self):
        for value in (2**53 + 1, -(2**64), [2**60], {"deep": [{"er": 2**70}]}):
            with self.subTest(value=value):
                self.assertNotIn("json", report.describe_value(value))
        self.assertEqual(report.describe_value(2**53)["json"], 2**53)

    def test_its_type_is_named_as_one_would_import_it(self):
        import decimal

        self.assertEqual(report.describe_value(decimal.Decimal(1))["type"], "decimal.Decimal")
        self.assertEqual(report.describe_value(lambda: 0)["type"], "function")

    def test_a_long_one_is_cut(self):
        for value in ("x" * 10**6, b"x" * 10**6, list(range(10**5))):
            about = report.describe_value(value)
            self.assertLess(len(about["repr"]), 70_000)
            self.assertNotIn("json", about)

    def test_of_any_kind_can_be_sent(self):
        for value in ("\ud800", "\0", b"\xff", float("nan"), {1: 2, None: 3}, [True, False]):
            json.loads(json.dumps(report.describe_value(value), allow_nan=False))


class Exceptions(unittest.TestCase):
    def test_is_placed_at_the_innermost_line_of_the_code(self):
        about = described("import json\ndef f():\n    json.loads('{')\nf()\n")
        self.assertEqual((about["line"], about["text"]), (3, "    json.loads('{')"))
        self.assertEqual(about["type"], "json.decoder.JSONDecodeError")

    def test_has_a_column_where_python_knows_it(self):
        self.assertEqual(described("x = 1 + (2 / 0)\n")["column"], 10 if HAS_COLUMNS else None)

    def test_has_a_column_in_characters(self):
        self.assertEqual(described("x = 'żółć' + (2 / 0)\n")["column"], 15 if HAS_COLUMNS else None)

    def test_the_traceback_has_the_source_and_nothing_of_ours(self):
        about = described("def f():\n    return 1 / 0\nf()\n")
        lines = about["traceback"].splitlines()
        self.assertEqual(lines[0], "Traceback (most recent call last):")
        self.assertIn("    return 1 / 0", lines)
        self.assertEqual(lines[-1], "ZeroDivisionError: division by zero")
        self.assertNotIn("worker.py", about["traceback"])

    def test_syntax_error(self):
        about = described("x = 1\ny = = 2\n")
        self.assertEqual((about["type"], about["line"], about["column"], about["text"]), ("SyntaxError", 2, 5, "y = = 2"))
        self.assertEqual(about["traceback"].count('File "'), 1)

    def test_syntax_error_of_another_source_is_placed_where_it_was_compiled(self):
        about = described("x = 1\nexec('1 +')\n")
        self.assertEqual((about["type"], about["line"]), ("SyntaxError", 2))

    def test_missing_module(self):
        self.assertEqual(described("import no.such\n")["missingModule"], "no")
        self.assertIsNone(described("from json import nothing\n")["missingModule"])
        self.assertIsNone(described("raise ModuleNotFoundError\n")["missingModule"])

    def test_memory_and_disk_are_told(self):
        self.assertTrue(described("raise MemoryError\n")["isMemoryError"])
        self.assertFalse(described("1/0\n")["isMemoryError"])
        self.assertEqual(described("raise OSError(28, 'full')\n")["errno"], 28)
        self.assertIsNone(described("raise OSError('no number')\n")["errno"])
        self.assertIsNone(described("1/0\n")["errno"])

    def test_a_huge_one_is_cut(self):
        about = described("raise ValueError('x' * 10**6)\n")
        self.assertLess(len(about["message"]), 20_000)
        self.assertLess(len(about["traceback"]), 40_000)
        self.assertIn("left out", about["message"])

    def test_an_endless_recursion_is_described(self):
        about = described("def f(): f()\nf()\n")
        self.assertEqual(about["type"], "RecursionError")
        self.assertLess(len(about["traceback"]), 40_000)

    def test_one_that_resists_is_described(self):
        resisting = {
            "raises in __str__": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n",
            "has a strange errno": "e = OSError(1, 'x')\ne.errno = 'strange'\nraise e\n",
            "has a strange name": "e = ModuleNotFoundError('x')\ne.name = 7\nraise e\n",
            "has a strange text": "e = SyntaxError('x', (__file__, 1, 1, 7))\nraise e\n",
            "has a strange line": "e = SyntaxError('x', (__file__, 'one', 'two', 'three'))\nraise e\n",
            "is a lone surrogate": "raise ValueError('\\ud800')\n",
        }
        for name, source in resisting.items():
            with self.subTest(name):
                about = described(source)
                json.loads(json.dumps(about, allow_nan=False))
                self.assertIsInstance(about["line"], (int, type(None)))
                self.assertIsInstance(about["column"], (int, type(None)))
                self.assertIsInstance(about["text"], (str, type(None)))


class OwnFrames(unittest.TestCase):
    def test_are_left_out_of_the_middle_and_of_what_led_to_it(self):
        source = (
            "from pungi.jail import box\n"
            "def fail(*_): raise ValueError('inner')\n"
            "class Odd:\n    __fspath__ = fail\n"
            "try:\n    box.remove_tree(Odd())\n"
            "except ValueError as error:\n    raise KeyError('outer') from error\n"
        )
        about = described(source)
        self.assertNotIn("box.py", about["traceback"])
        for part in ("inner", "direct cause", "outer", 'line 6, in <module>', 'line 2, in fail'):
            self.assertIn(part, about["traceback"])


class Cut(unittest.TestCase):
    def test_short_text_stays(self):
        self.assertEqual(cut_middle("abcd", 4), "abcd")

    def test_long_text_keeps_head_and_tail_and_says_what_is_missing(self):
        self.assertEqual(cut_middle("abcdefghij", 4), "ab\n… 6 characters left out …\nij")


class ExitStatus(unittest.TestCase):
    def status(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            return exit_status(SystemExit(*arguments)), said.getvalue()

    def test_is_what_python_would_end_with(self):
        expected = {(): 0, (None,): 0, (0,): 0, (3,): 3, (True,): 1, (False,): 0, (-1,): 255, (256,): 0, (263,): 7}
        for arguments, status in expected.items():
            with self.subTest(arguments=arguments):
                self.assertEqual(self.status(*arguments), (status, ""))

    def test_text_is_said_on_stderr(self):
        self.assertEqual(self.status("no input"), (1, "no input\n"))
        self.assertEqual(self.status(1.5), (1, "1.5\n"))
        self.assertEqual(self.status(""), (1, "\n"))


if __name__ == "__main__":
    unittest.main()
