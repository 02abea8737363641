"""Runs a module of CPython's own tests: `main.py test_json`. Writes one line for each test: its outcome, its name, what was wrong."""

import os
import sys
import unittest

from test import support

# Nothing that needs the internet, a display, a lot of memory or minutes.
support.use_resources = []
# Tests replace the standard streams.
report = os.fdopen(os.dup(1), "w", buffering=1)


class Result(unittest.TestResult):
    def addSuccess(self, test):
        write("passed", test)

    def addError(self, test, error):
        write("failed", test, error)

    def addFailure(self, test, error):
        write("failed", test, error)

    def addSkip(self, test, reason):
        write("skipped", test)

    def addExpectedFailure(self, test, error):
        write("passed", test)

    def addUnexpectedSuccess(self, test):
        write("failed", test)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            write("failed", test, error)


def write(outcome, test, error=None):
    said = "" if error is None else f"{error[0].__name__}: {error[1]}".replace("\n", " ")[:200]
    report.write(f"test-report: {outcome}\t{test.id()}\t{said}\n")


# Processes that multiprocessing spawns import this module again.
if __name__ == "__main__":
    unittest.defaultTestLoader.loadTestsFromName(f"test.{sys.argv[1]}").run(Result())
    report.write("test-report: done\t\t\n")
