"""For tests of packages/core/python/pungi/harness: runs a script as a worker would, and puts back what that changes."""

import linecache
import sys
import textwrap
import unittest

import python_half  # noqa: F401

from pungi.harness import carry_out

# What is measured by the trace module must have no name of a file that is not there.
FILENAME = "<check>"


class HarnessCase(unittest.TestCase):
    def setUp(self):
        before = sys.argv, sys.modules["__main__"]
        self.addCleanup(self._put_back, *before)

    @staticmethod
    def _put_back(argv, main):
        sys.argv, sys.modules["__main__"] = argv, main
        linecache.cache.pop(FILENAME, None)

    def run_script(self, source, context=None, **more):
        job = {"task": "script", "source": textwrap.dedent(source), "filename": FILENAME, "context": context or {}}
        return carry_out(job | more)

    def compile(self, source, **more):
        return carry_out({"task": "compile", "source": textwrap.dedent(source), "filename": FILENAME, **more})

    def judge(self, *expressions, **context):
        return carry_out({"task": "expressions", "expressions": expressions, "context": context})["failures"]

    def messages(self, *arguments, **more):
        return [each["message"] for each in self.run_script(*arguments, **more)["failures"]]
