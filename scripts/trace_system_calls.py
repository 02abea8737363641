"""Lists the system calls that workloads make outside of any sandbox, and which of them the filter refuses.

    python3 scripts/trace_system_calls.py INTERPRETER WORKLOAD.py ...

Needs strace. The lists in packages/core/python/pungi/jail/system_calls.py were found with packages/core/tests/system-calls/workloads, under each supported
interpreter and in an environment with the packages that packages/core/tests/system-calls/packages.test.ts names.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))
from pungi.jail import system_calls  # noqa: E402

_CALL = re.compile(r"^\d+ +(\w+)\(")


def trace(interpreter, workload):
    """Counts the calls of one workload, which runs in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(workload, folder)
        command = ["strace", "-f", "-qq", "-o", "trace", interpreter, os.path.basename(workload)]
        ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if ended.stdout != "ok\n":
            sys.exit(f"{workload} failed: {ended.stdout}{ended.stderr}")
        with open(os.path.join(folder, "trace"), errors="replace") as file:
            return collections.Counter(found[1] for line in file if (found := _CALL.match(line)))


def main(interpreter, *workloads):
    interpreter = os.path.abspath(interpreter)
    made = sum((trace(interpreter, workload) for workload in workloads), collections.Counter())
    allowed = {name for calls in system_calls.ALLOWED.values() for name in calls}
    print("allowed:", *(f"{name} ({made[name]})" for name in sorted(made.keys() & allowed)))
    print("refused:", *(f"{name} ({made[name]})" for name in sorted(made.keys() - allowed)))
    print("allowed, not made by these:", *sorted(allowed - made.keys()))


if __name__ == "__main__":
    main(*sys.argv[1:])
