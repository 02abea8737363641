"""What a script is given: the context, the session, and functions to look up, to tell and to fail."""

import unittest

from harness_case import HarnessCase

CONTEXT = {"response": {"content": [{"text": "null"}, {"odd.name": (1, 2, 3)}], "isError": False}}


class Values(HarnessCase):
    def test_a_context_has_its_parts(self):
        self.assertEqual(self.run_script("context")["result"], {"request": None, "response": None, "metadata": {}, "session": {}})

    def test_paths(self):
        for path, expected in [
            ("response.content[0].text", "null"),
            ("$.response.content[0].text", "null"),
            ("$['response'][\"content\"][1]['odd.name'][-1]", 3),
            ("response.content.0.text", "null"),
            ("response.content.-2.text", "null"),
            ("response.isError", False),
        ]:
            with self.subTest(path):
                self.assertEqual(self.run_script(f"get({path!r})", CONTEXT)["result"], expected)
        self.assertEqual(self.run_script("get('', within=5)")["result"], 5)
        self.assertEqual(self.run_script("get('a', 7, within={})")["result"], 7)

    def test_paths_that_lead_nowhere(self):
        for path, why in [
            ("response.contents", "there is no 'contents', only content, isError"),
            ("response.content[2]", "the list has 2 items, and no 2"),
            ("response.content.first", "the list has 2 items, and no 'first'"),
            ("response.isError.x", "False has no 'x'"),
            ("metadata.x", "only an empty map"),
        ]:
            with self.subTest(path):
                error = self.run_script(f"get({path!r})", CONTEXT)["error"]
                self.assertEqual(error["type"], "NothingThere")
                self.assertTrue(error["message"].startswith(f"there is nothing at {path!r}: "), error["message"])
                self.assertIn(why, error["message"])
        self.assertIn("is no path", self.run_script("get('a..b')")["error"]["message"])
        self.assertEqual(self.run_script("try: get('x')\nexcept KeyError: 5")["error"], None)


class Telling(HarnessCase):
    def test_logs(self):
        logs = self.run_script("log('WARN', {'a': 1})\nlog('plain')\nlog('x' * 50, None)")["logs"]
        self.assertEqual([each[:2] for each in logs], [["warn", "{'a': 1}"], ["info", "plain"], ["x" * 20 + "…", "None"]])
        self.assertTrue(all(each[2] >= 0 for each in logs))

    def test_logs_are_bounded(self):
        logs = self.run_script("for n in range(5000): log(n)")["logs"]
        self.assertEqual([logs[0][1], logs[499][1], logs[501][1], logs[-1][1]], ["0", "499", "4500", "4999"])
        self.assertEqual(logs[500][:2], ["note", "… 4000 log lines are left out …"])
        large = self.run_script("for n in range(500): log('x' * 9000)")["logs"]
        self.assertLess(sum(len(each[1]) for each in large), 200_000)

    def test_failures_have_all_that_is_said_of_them(self):
        told = self.run_script("fail('m', field='$.a', expected=None, actual=[1])\ndef f():\n    expect(0, 'n')\nf()\nexpect(1)\nexpect(1 > 2)")
        self.assertEqual(told["failures"], [
            {"message": "m", "path": "$.a", "line": 1, "expected": None, "actual": [1]},
            {"message": "n", "line": 3},
            {"message": "This does not hold: expect(1 > 2)", "line": 6},
        ])
        self.assertIs(told["result"], False)

    def test_failures_are_bounded(self):
        told = self.run_script("for n in range(1000): fail('x' * 5000, field='y' * 999, expected='z' * 30_000)")["failures"]
        self.assertEqual((len(told), len(told[0]["message"]), len(told[0]["path"])), (101, 4001, 501))
        self.assertRegex(told[-1]["message"], r"^\d+ more failures are left out\.$")
        self.assertLess(len(told[0]["expected"]), 300)

    def test_values_that_are_no_json(self):
        for value, expected in [
            ("float('nan')", "nan"), ("-float('inf')", "-inf"), ("1.5", 1.5), ("{1: [True]}", {1: [True]}),
            ("int", int), ("'x'", "x"),
        ]:
            with self.subTest(value):
                self.assertEqual(self.run_script(f"fail('m', actual={value})")["failures"][0]["actual"], expected)
        deep = "x = []\nfor _ in range(200): x = [x]\nfail('m', actual=x)"
        self.assertTrue(self.run_script(deep)["failures"][0]["actual"].startswith("[[[["))

    def test_classes_that_do_anything_when_they_are_asked(self):
        odd = "class Odd:\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__\n"
        self.assertEqual(self.messages(f"{odd}fail(Odd(), field=Odd())"), ["a Odd"])
        text = "class Text(str):\n    def __str__(self): raise SystemExit(0)\n"
        self.assertEqual(self.messages(f"{text}fail(Text('x'))"), ["x"])
        self.assertEqual(self.run_script(f"{odd}log(Odd())")["logs"][0][1], "a Odd")
        with self.assertRaises(MemoryError):
            self.run_script("class Odd:\n    def __str__(self): raise MemoryError\nfail(Odd())")


class Session(HarnessCase):
    def changes(self, source, **session):
        return self.run_script(source, {"session": session})["session"]

    def test_only_what_has_changed_is_told(self):
        self.assertEqual(
            self.changes("session['new'] = 1\nsession['list'].append(2)\ndel session['old']", list=[1], old=1, same={"a": 1}),
            {"set": {"new": 1, "list": [1, 2]}, "removed": ["old"]},
        )
        self.assertEqual(self.changes("session = 5\ncontext['session'] = 6", a=1), {"set": {}, "removed": []})

    def test_plain_values_are_kept(self):
        value = {"a": [None, True, 1, 1.5, "ü\U0001f40d", {}, 2**53]}
        self.assertEqual(self.changes(f"session['v'] = {value!r}")["set"], {"v": value})

    def test_others_are_refused_by_name(self):
        for value, why in [
            ("float('nan')", "JSON has no nan"), ("2**60", "not exact"), ("{1: 2}", "keys must be texts"),
            ("[{'a': {1}}]", "a set is no plain data"), ("(1,)", "a tuple is no plain data"), ("'\\ud800'", "half of a character"),
            ("{'\\udfff': 1}", "half of a character"),
        ]:
            with self.subTest(value):
                told = self.run_script(f"session['v'] = {value}")
                self.assertEqual(told["session"]["set"], {})
                self.assertIn("The session variable 'v' cannot be kept: ", told["failures"][0]["message"])
                self.assertIn(why, told["failures"][0]["message"])
        self.assertIn("its name must be a text", self.messages("session[1] = 2")[0])
        self.assertIn("too large to be kept", self.messages("session['v'] = 'x' * 300_000")[0])
        self.assertIn("nested too deeply", self.messages("x = []\nfor _ in range(95): x = [x]\nsession['v'] = x")[0])


if __name__ == "__main__":
    unittest.main()
