"""Runs that inspect a script: it is loaded as a module, as a call does it, and run up to the point where it reads its command
line. What is found goes back as the value of the run. Everything that the script prints is the run's output, and nobody's."""

import sys

from .. import discovery
from ..run import report, script
from . import entry_points

# Loading brings large packages along; a command line is read soon after.
_LOADING_SECONDS = 30


def steps(job, path, run, scope, ending):
    """Steps of the worker (empty_stack.py); gives the exit status and the report. `run` loads the script."""
    module = discovery.module_of(job)
    error, is_loaded = None, discovery.is_loaded(module)
    if is_loaded:
        with entry_points.time_limit(_LOADING_SECONDS):
            yield run
        error, ending.error = ending.error, None
    described = None if error is None else report.describe_exception(error, path)
    if described is not None and described["missingModule"]:
        return 1, {"exception": described}  # it may be installed, and the run repeated
    sys.argv = [job["filename"]]
    try:
        with entry_points.time_limit(_LOADING_SECONDS):
            found = discovery.inspect(job, module, path, scope if is_loaded else None, described, _as_main(job, path))
    except BaseException as failure:  # inspecting objects of the script may run any code
        found = discovery.discover(job) | {"problem": f"{module.filename} cannot be inspected: {report.name_exception(failure)}."}
    return 0, {"value": {"type": "dict", "repr": "", "json": found}}


def _as_main(job, path):
    """Runs the script as `python FILE` would, or as `python -m PACKAGE.MODULE`."""

    def run_main():
        main = sys.modules["__main__"] = script.make_main(path)
        main.__dict__.update(job["variables"])
        if package := job.get("package"):
            main.__package__ = package
        exec(compile(script.encode(job["code"]), path, "exec", dont_inherit=True), main.__dict__)

    return run_main
