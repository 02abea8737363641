"""Exercises of packages: only of those that are loaded, and none may keep a worker from being parked."""

import sys
import types
import unittest
from unittest import mock

import python_half  # noqa: F401
from pungi import exercises


class Exercises(unittest.TestCase):
    def test_nothing_is_loaded_for_them(self):
        with mock.patch.dict(sys.modules):
            for name in ("numpy", "pandas"):
                sys.modules.pop(name, None)
            before = set(sys.modules)
            exercises.go_through()
            self.assertEqual(set(sys.modules) - before, set())

    def test_a_package_that_is_loaded_is_used(self):
        used = []
        pandas = types.ModuleType("pandas")
        pandas.DataFrame = lambda data: used.append(data) or 1 / 0
        with mock.patch.dict(sys.modules, pandas=pandas):
            exercises.go_through()
        self.assertEqual(list(used[0]), ["name", "value"])


if __name__ == "__main__":
    unittest.main()
