"""Runs the unittests below the folder given and says in one last line of JSON how they ended."""

import json
import sys
import unittest


class CountingResult(unittest.TextTestResult):
    """The standard library counts skipped tests in some versions and not in others: successes are counted here."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


suite = unittest.defaultTestLoader.discover(sys.argv[1])
result = unittest.TextTestRunner(resultclass=CountingResult).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
print(json.dumps({"passed": result.passed, "failed": failed, "skipped": len(result.skipped)}))
