"""Runs the unittests below the given folder and prints the result as a last line of JSON.

`--only MODULE …` runs only these modules; `--cover FOLDER` also reports which lines below that folder they reached.
"""

import json
import re
import sys
import unittest

import line_coverage


class CountingResult(unittest.TextTestResult):
    """Counts successes: versions of unittest differ in whether they count skipped tests."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


folder, *options = sys.argv[1:]
coverage = None
if "--cover" in options and line_coverage.IS_POSSIBLE:
    coverage = line_coverage.LineCoverage(options[options.index("--cover") + 1])
    coverage.start()
only = options[options.index("--only") + 1 :] if "--only" in options else ["test*"]
tests = unittest.TestSuite(unittest.TestLoader().discover(folder, f"{name}.py") for name in only)
result = unittest.TextTestRunner(resultclass=CountingResult).run(tests)
failures = [f"{test}: {text}" for test, text in (*result.failures, *result.errors)]
failures += [f"{test}: should have failed" for test in result.unexpectedSuccesses]
# A module that cannot be loaded and a class that cannot be set up are not tests, but name their location.
failed = {re.search(r"test_\w+", test.id())[0] for test, _ in (*result.failures, *result.errors)}
failed |= {test.id().partition(".")[0] for test in result.unexpectedSuccesses}
summary = {"passed": result.passed, "failures": failures, "skipped": len(result.skipped), "modules": sorted(failed)}
print(json.dumps(summary | ({"coverage": coverage.report()} if coverage else {})))
