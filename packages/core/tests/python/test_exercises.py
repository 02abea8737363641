"""Exercises of packages: only of those that are loaded, and none may keep a worker from being parked."""

import dataclasses
import sys
import types
import unittest
import weakref
from unittest import mock

import python_half  # noqa: F401
from pungi.run import exercises


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

    def test_a_worker_repeats_all_of_it_only_where_the_package_is_surely_used(self):
        lookups = []

        class Frame:
            def __getattr__(self, name):
                lookups.append(name)
                return lambda *arguments, **named: Frame()

        pandas = types.ModuleType("pandas")
        pandas.DataFrame = lambda data: Frame()
        with mock.patch.dict(sys.modules, pandas=pandas), mock.patch.dict(exercises._in_worker):
            exercises.go_through()
            lookups.clear()
            exercises.repeat()
            self.assertEqual(lookups, ["to_string"])
            exercises.go_through(["pandas"])
            lookups.clear()
            exercises.repeat()
            self.assertIn("groupby", lookups)

    def test_no_class_stays_behind(self):
        made = []

        def watched(kind, make=dataclasses.dataclass):
            made.append(weakref.ref(kind))
            return make(kind)

        with mock.patch.dict(exercises._in_worker), mock.patch("dataclasses.dataclass", watched):
            exercises.go_through(["dataclasses"])
            exercises.repeat()
        self.assertEqual([kind() for kind in made], [None, None])


if __name__ == "__main__":
    unittest.main()
