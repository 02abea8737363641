"""Runs the unittests below the folder given and says in one last line of JSON how they ended.

`--only MODULE …` runs these modules of it; `--cover FOLDER` also says which part of the lines below that folder they reached.
"""

import json
import re
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
if "--cover" in options and line_coverage.IS_POSSIBLE:
    coverage = line_coverage.LineCoverage(options[options.index("--cover") + 1])
    coverage.start()
only = options[options.index("--only") + 1 :] if "--only" in options else ["test*"]
tests = unittest.TestSuite(unittest.TestLoader().discover(folder, f"{name}.py") for name in only)
result = unittest.TextTestRunner(resultclass=CountingResult).run(tests)
failures = [f"{test}: {text}" for test, text in (*result.failures, *result.errors)]
failures += [f"{test}: should have failed" for test in result.unexpectedSuccesses]
# A module that cannot be loaded and a class that cannot be set up are no tests of their own, but name where they are.
failed = {re.search(r"test_\w+", test.id())[0] for test, _ in (*result.failures, *result.errors)}
failed |= {test.id().partition(".")[0] for test in result.unexpectedSuccesses}
summary = {"passed": result.passed, "failures": failures, "skipped": len(result.skipped), "modules": sorted(failed)}
print(json.dumps(summary | ({"coverage": coverage.report()} if coverage else {})))
