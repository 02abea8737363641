"""Records which lines below a folder were reached, with sys.monitoring: each line is reported once and costs nothing
after.
"""

import os
import sys

IS_POSSIBLE = hasattr(sys, "monitoring")  # since Python 3.12


class LineCoverage:
    def __init__(self, folder):
        self._folder = os.path.join(os.path.abspath(folder), "")
        self._reached = {}

    def start(self):
        events = sys.monitoring
        events.use_tool_id(events.COVERAGE_ID, "lines")
        events.register_callback(events.COVERAGE_ID, events.events.LINE, self._on_line)
        events.set_events(events.COVERAGE_ID, events.events.LINE)

    def _on_line(self, code, line):
        if code.co_filename.startswith(self._folder):
            self._reached.setdefault(code.co_filename, set()).add(line)
        return sys.monitoring.DISABLE

    def report(self):
        """Returns for each file how many of its lines were reached, and how many there are."""
        report = {}
        for base, _, names in os.walk(self._folder):
            for name in names:
                if name.endswith(".py"):
                    path = os.path.join(base, name)
                    lines = _lines_of(path)
                    reached = self._reached.get(path, set()) & lines
                    report[os.path.relpath(path, self._folder)] = [len(reached), len(lines)]
        return report


def _lines_of(path):
    with open(path, "rb") as file:
        left = [compile(file.read(), path, "exec")]
    lines = set()
    while left:
        code = left.pop()
        lines |= {line for _, _, line in code.co_lines() if line}
        left += [constant for constant in code.co_consts if hasattr(constant, "co_lines")]
    return lines
