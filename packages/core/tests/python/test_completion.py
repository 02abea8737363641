"""What completes a line, from given variables."""

import types
import unittest

import python_half  # noqa: F401
from pungi.run import completion, prompt


class Columns:
    _hidden = 1
    shown = 2

    def _ipython_key_completions_(self):
        return ["price", "amount", 3, 'quo"te', "back\\slash", "tab\t"]


SCOPE = {"frame": Columns(), "table": {"one": 1, 2: 2}, "items": [1], "_private": 1, "module": types.SimpleNamespace(inner=Columns())}


class Completion(unittest.TestCase):
    def expect(self, line, *completions):
        self.assertEqual(completion.complete(line, SCOPE)["completions"], [*completions], line)

    def test_names_and_attributes(self):
        self.expect("fram", "frame")
        self.expect("(table, item", "items")
        self.expect("_pri", "_private")
        self.expect("frame.", "shown")
        self.expect("frame._h", "_hidden")
        self.expect("module.inner.sh", "shown")
        self.expect("lambd", "lambda")
        self.assertEqual(completion.complete("x = fram", SCOPE)["length"], 4)

    def test_keys(self):
        self.expect("table['o", "one']")
        self.expect('frame["', 'amount"]', 'price"]')
        self.expect("items['", *())

    def test_modules(self):
        self.expect("import colle", "collections")
        self.expect("import collections.a", "abc")
        self.expect("from collections import OrderedD", "OrderedDict")
        self.expect("from xml.do", "dom")
        self.expect("import os, optpars", "optparse")
        self.assertNotIn("_io", completion.complete("import ", SCOPE)["completions"])

    def test_nothing_follows_what_is_no_name(self):
        for line in ("1", "items[0].", "f().", '"text".', "a.."):
            self.expect(line)

    def test_what_raises_is_raised(self):
        with self.assertRaises(KeyError):
            completion.complete("missing.a", SCOPE)


class Prompt(unittest.TestCase):
    def test_an_input_is_whole_by_the_rules_of_python(self):
        self.assertEqual(prompt.read("def f():\n    return 1", True), {"isWhole": False, "ends": []})
        self.assertEqual(prompt.read("x = 1\nx", False), {"isWhole": True, "ends": [1, 2]})
        self.assertEqual(prompt.read("\0", False)["isWhole"], True)
