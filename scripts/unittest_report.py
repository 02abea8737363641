"""Runs the unittests below the folder given and says in one last line of JSON how they ended.

`--cover FOLDER` also says which part of the lines below that folder they reached."""

import json
import sys
import unittest

import line_coverage


class CountingResult(unittest.TextTestResult):
    """The standard library counts skipped tests in some versions and not in others: successes are counted here."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


folder, *options = sys.argv[1:]
coverage = None
if options and line_coverage.IS_POSSIBLE:
    coverage = line_coverage.LineCoverage(options[options.index("--cover") + 1])
    coverage.start()
result = unittest.TextTestRunner(resultclass=CountingResult).run(unittest.TestLoader().discover(folder))
failures = [f"{test}: {text}" for test, text in (*result.failures, *result.errors)]
failures += [f"{test}: should have failed" for test in result.unexpectedSuccesses]
summary = {"passed": result.passed, "failures": failures, "skipped": len(result.skipped)}
print(json.dumps(summary | ({"coverage": coverage.report()} if coverage else {})))
