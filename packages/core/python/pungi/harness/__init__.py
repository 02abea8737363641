"""Judges for the test harness: a run that calls `carry_out` with its job is a validation script, or expressions."""

import linecache
import sys

from . import compiling, expressions, scripts

_TASKS = {"compile": compiling.compile_only, "script": scripts.run_script, "expressions": expressions.judge_expressions}


def carry_out(job):
    return _TASKS[job["task"]](job)


def rehearse():
    """Runs a sample script in the fork server, so that what Python creates at the first use of code exists already."""
    before = sys.argv, sys.modules["__main__"]
    job = {"source": 'log("a", 1)\nexpect(get("response"))\nsession["a"] = 1', "filename": "<rehearsal>", "context": {"response": [1]}}
    compiled = carry_out(job | {"task": "compile"})
    for _ in range(20):
        carry_out(job | compiled | {"task": "script"})
    sys.argv, sys.modules["__main__"] = before
    linecache.cache.pop(job["filename"])
