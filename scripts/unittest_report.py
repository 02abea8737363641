"""Runs the unittests below the folder given and says in one last line of JSON how they ended.

`--without PREFIX` leaves out files whose names begin so."""

import json
import sys
import unittest


class CountingResult(unittest.TextTestResult):
    """The standard library counts skipped tests in some versions and not in others: successes are counted here."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


class Loader(unittest.TestLoader):
    left_out = None

    def _match_path(self, path, full_path, pattern):
        is_left_out = self.left_out is not None and path.startswith(self.left_out)
        return not is_left_out and super()._match_path(path, full_path, pattern)


folder, *options = sys.argv[1:]
loader = Loader()
if options:
    loader.left_out = options[options.index("--without") + 1]
result = unittest.TextTestRunner(resultclass=CountingResult).run(loader.discover(folder))
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
print(json.dumps({"passed": result.passed, "failed": failed, "skipped": len(result.skipped)}))
