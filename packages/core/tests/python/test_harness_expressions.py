"""Expressions over an answer, and why they do not hold."""

import unittest

from harness_case import HarnessCase

RESPONSE = {"items": {"total": 4, "keys": "own"}, "content": [{"type": "text", "text": "four"}], "class": 1}


class Expressions(HarnessCase):
    def judged(self, expression, **context):
        return self.judge(expression, response=RESPONSE, variables={"wanted": 4}, **context)

    def test_what_holds(self):
        for expression in [
            "response['items']['total'] == response.items.total == wanted == variables.wanted",
            "response.items.keys == 'own'",
            "response.content[0].text.startswith('fo')",
            "all(block.type == 'text'\n  for block in response.content)",
            "request is None and context.metadata == {} and session == {}",
            "get('response.items.total') > 3",
            "len(response.get('content')) == 1",
            "  wanted  ",
        ]:
            with self.subTest(expression):
                self.assertEqual(self.judged(expression), [])

    def test_what_does_not_hold_tells_the_parts(self):
        for expression, why in [
            ("response.items.total == 5", "response.items.total is 4"),
            ("5 == response['items']['total']", "response['items']['total'] is 4"),
            ("wanted > 9", "wanted is 4"),
            ("len(response.content) == 3", "len(response.content) is 1"),
            ("not wanted", "wanted is 4"),
            ("wanted == 1 or wanted == 2", "wanted is 4"),
        ]:
            with self.subTest(expression):
                [failure] = self.judged(expression)
                self.assertEqual(failure["message"], f"`{expression}` does not hold: {why}")
        self.assertEqual(self.judged("False")[0]["message"], "`False` does not hold")

    def test_what_compares_tells_both_sides(self):
        for expression in ("response.items.total == 5", "5 == response.items.total"):
            [failure] = self.judged(expression)
            self.assertEqual((failure["expected"], failure["actual"]), (5, 4))
        for expression in ("wanted != 4", "1 == wanted == 4", "str(wanted) == '5'"):
            self.assertNotIn("expected", self.judged(expression)[0])

    def test_what_cannot_be_evaluated(self):
        for expression, why in [
            ("1 +", "is no Python expression"),
            ("", "is no Python expression"),
            ("x = 1", "is no Python expression"),
            ("nobody", "NameError"),
            ("response.itemz", "AttributeError: there is no 'itemz' here, only items, content, class"),
            ("(_ for _ in ()).throw(SystemExit(0))", "SystemExit"),
        ]:
            with self.subTest(expression):
                self.assertIn(why, self.judged(expression)[0]["message"])
        with self.assertRaises(MemoryError):
            self.judged("(_ for _ in ()).throw(MemoryError())")

    def test_each_is_judged_on_its_own(self):
        self.assertEqual(len(self.judge("1 +", "(y := 5) == 5", "y == 5", "True")), 2)

    def test_nothing_is_called_again_to_explain(self):
        source = """
            calls = []
            class Odd:
                def __getitem__(self, key): calls.append(key)
                def __len__(self): calls.append("len"); return 0
            odd = Odd()
            def take(): calls.append("take"); return 1
            try:
                assert take() == 5 and odd["key"] and len(odd)
            finally:
                session["calls"] = calls
        """
        told = self.run_script(source)
        self.assertEqual(told["session"]["set"], {"calls": ["take"]})
        self.assertIn("does not hold", told["error"]["message"])


if __name__ == "__main__":
    unittest.main()
