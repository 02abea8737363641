"""Runs tests that a package brings: `main.py numpy.linalg`. Writes one line for each test: its outcome, its name, what was wrong."""

import os
import sys

import pytest

report = os.fdopen(os.dup(1), "w", buffering=1)


class Reporter:
    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            write(report.outcome, report.nodeid, str(report.longrepr or ""))

    def pytest_collectreport(self, report):
        if report.failed:
            write("failed", report.nodeid, str(report.longrepr))


def write(outcome, name, said):
    last = said.strip().rpartition("\n")[2][:200].replace("\t", " ") if outcome == "failed" else ""
    # Pytest writes its dots to the same line.
    report.write(f"\ntest-report: {outcome}\t{name}\t{last}\n")


options = ["-q", "-p", "no:cacheprovider", "--capture=fd", "-m", "not slow and not network and not db and not single_cpu", "--pyargs"]
pytest.main([*options, *sys.argv[1:]], plugins=[Reporter()])
report.write("\ntest-report: done\t\t\n")
