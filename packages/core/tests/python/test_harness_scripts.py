"""Validation scripts: what they give, how they end, and what is told of it."""

import os
import sys
import unittest

from harness_case import FILENAME, HarnessCase


class Results(HarnessCase):
    def test_what_a_script_gives(self):
        for source, expected in [
            ("x = 1", None),
            ("x = 1\nx + 1", 2),
            ("", None),
            ("if context['response']:\n    return 'early'\n'late'", "early"),
            ("for n in range(3):\n    if n == 2: return n", 2),
            ("if False: return 1\n'the last expression'", "the last expression"),
            ("def f(): return 5\nx = f()", None),
            ("from __future__ import annotations\nreturn 1", 1),
            ("async def check(): return 'waited for'\ncheck()", "waited for"),
        ]:
            with self.subTest(source):
                told = self.run_script(source, {"response": [1]})
                self.assertEqual((told["result"], told["error"], told["failures"]), (expected, None, []))

    def test_a_script_is_the_main_module_with_its_own_file(self):
        told = self.run_script("import __main__, sys\n[__name__, __main__.__file__ == __file__, __file__, sys.argv]")
        self.assertEqual(told["result"], ["__main__", True, os.path.join(os.getcwd(), FILENAME), [FILENAME]])

    def test_a_function_is_called_with_the_context_or_without(self):
        source = """
            def check(context): return context["response"]
            def bare(): return "bare"
            def rest(*given): return given[0]["response"]
            class Check:
                def __call__(self, context): return context["response"]
            one = Check()
            async def later(context): return context["response"]
            "not this"
        """
        for name, expected in [("check", 7), ("bare", "bare"), ("rest", 7), ("one", 7), ("later", 7)]:
            with self.subTest(name):
                self.assertEqual(self.run_script(source, {"response": 7}, function=name)["result"], expected)

    def test_a_function_that_is_not_there(self):
        told = self.run_script("def check(): pass\nx = 1", function="x")
        self.assertEqual(told["error"]["message"], "the script has no function 'x', only check")
        self.assertIn("no function at all", self.run_script("x = 1", function="f")["error"]["message"])

    def test_results_that_cannot_be_read_fail(self):
        for source, why in [
            ("'x' * 300_000", "larger than"),
            ("x = []\nx.append(x)\nx", "holds itself"),
            ("x = []\nfor _ in range(91): x = [x]\nx", "nested too deeply"),
        ]:
            with self.subTest(source):
                told = self.run_script(source)
                self.assertIsNone(told["result"])
                self.assertIn(why, told["failures"][0]["message"])

    def test_what_is_no_json_inside_of_a_result_is_left_to_others(self):
        self.assertEqual(self.run_script("{'a': {1}, (1, 2): object}")["failures"], [])

    def test_threads_are_waited_for_unless_they_are_daemons(self):
        source = """
            import threading, time
            def late(): time.sleep(0.02); fail("late")
            threading.Thread(target=late).start()
            threading.Thread(target=time.sleep, args=[30], daemon=True).start()
        """
        self.assertEqual(self.messages(source), ["late"])


class Errors(HarnessCase):
    def test_what_does_not_compile(self):
        error = self.run_script("x = 1\ny = (")["error"]
        self.assertEqual((error["stage"], error["type"], error["line"], error["text"]), ("syntax", "SyntaxError", 2, "y = ("))
        self.assertEqual(self.compile("a = '\0'")["error"]["stage"], "syntax")

    def test_what_is_raised_has_its_place_in_the_script(self):
        error = self.run_script("def f():\n    return {}['a']\nimport json\nf()")["error"]
        self.assertEqual((error["stage"], error["type"], error["message"]), ("run", "KeyError", "'a'"))
        self.assertEqual((error["line"], error["text"]), (2, "return {}['a']"))
        self.assertIn(f'File "{FILENAME}", line 2, in f\n    return {{}}', error["traceback"])
        self.assertNotIn("scripts.py", error["traceback"])

    def test_what_is_raised_elsewhere_has_the_line_that_led_there(self):
        self.assertEqual(self.run_script("import json\n\njson.loads('{')")["error"]["line"], 3)

    def test_modules_and_numbers_of_errors(self):
        missing = self.run_script("import nowhere.at_all")["error"]
        self.assertEqual((missing["module"], missing["isMissing"]), ("nowhere", True))
        wrong = self.run_script("from json import nothing")["error"]
        self.assertEqual((wrong["module"], wrong["isMissing"]), ("json", False))
        self.assertEqual(self.run_script("open('/nowhere/at/all')")["error"]["errno"], 2)
        self.assertIsNone(self.run_script("raise OSError(10**30, 'x')")["error"]["errno"])
        self.assertEqual(len(self.run_script("raise ModuleNotFoundError(name='m' * 9999)")["error"]["module"]), 201)

    def test_an_exception_may_be_anything(self):
        for body in ("raise ValueError", "raise SystemExit(0)", "return 5", "return 'x' * 10_000"):
            with self.subTest(body):
                error = self.run_script(f"class E(Exception):\n    def __str__(self): {body}\nraise E")["error"]
                self.assertEqual((error["stage"], error["type"], error["line"]), ("run", "E", 3))
                self.assertLessEqual(len(error["message"]), 4001)

    def test_long_tracebacks_lose_their_middle(self):
        source = "def a(n): return b(n)\ndef b(n): return a(n - 1) if n else 1/0\n" + "x = 'y' * 3\n" * 3 + "a(50)"
        self.assertLess(len(self.run_script(f"raise ValueError('x' * 100_000)\n{source}")["error"]["traceback"]), 16_100)

    def test_ways_to_exit(self):
        for code, expected in [
            ("", None), ("0", None), ("None", None), ("False", None), ("3", (3, "")), ("-1", (255, "")), ("256", (1, "")),
            ("True", (1, "")), ("''", (1, "")), ("'wrong'", (1, "wrong")), ("[1]", (1, "[1]")),
        ]:
            with self.subTest(code):
                error = self.run_script(f"import sys\nfail('x')\nsys.exit({code})")["error"]
                self.assertEqual(error and (error["status"], error["message"]), expected)

    def test_want_of_memory_is_for_others_to_judge(self):
        with self.assertRaises(MemoryError):
            self.run_script("raise MemoryError")

    def test_an_assertion_tells_what_it_compared(self):
        error = self.run_script("answer = {'n': [4]}\nassert answer['n'][0] == 3")["error"]
        self.assertEqual(error["message"], "`answer['n'][0] == 3` does not hold: answer['n'][0] is 4")
        self.assertEqual((error["expected"], error["actual"]), (3, 4))
        self.assertEqual(self.run_script("assert 1 == 2, 'in words'")["error"]["message"], "in words")
        self.assertEqual(self.run_script("raise AssertionError")["error"]["message"], "")

    def test_what_was_found_before_the_end_is_told(self):
        told = self.run_script("fail('before')\nlog('seen')\nsession['a'] = 1\n1/0")
        self.assertEqual([each["message"] for each in told["failures"]], ["before"])
        self.assertEqual(told["session"]["set"], {"a": 1})
        self.assertEqual(told["logs"][0][1], "seen")


class Compiled(HarnessCase):
    def test_bytecode_is_run_and_that_of_others_is_not(self):
        compiled = self.compile("context['response'] * 2")
        self.assertEqual(self.run_script("'the source'", {"response": 4}, **compiled)["result"], 8)
        self.assertEqual(self.run_script("'the source'", **compiled | {"tag": "other"})["result"], "the source")

    def test_the_name_of_the_function_is_no_result(self):
        compiled = self.compile("def check(): return 1\n'not this'", function="check")
        self.assertEqual(self.run_script("", function="check", **compiled)["result"], 1)

    def test_what_is_large_is_compiled_again(self):
        self.assertEqual(self.compile(f"x = {'y' * 600_000!r}"), {"bytecode": "", "tag": ""})

    def test_what_imported_it_is_left_as_it_was(self):
        from pungi.harness import rehearse

        before = sys.argv, sys.modules["__main__"]
        rehearse()
        self.assertEqual((sys.argv, sys.modules["__main__"]), before)


if __name__ == "__main__":
    unittest.main()
