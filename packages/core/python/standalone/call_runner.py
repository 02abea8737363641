"""Runs one call, from its arguments to its outcome."""

import json
import os
import sys
import time

from .child import run_child
from .output_lines import OutputLines
from .processes import start_process
from .ready_processes import ReadyProcesses
from .reports import new_id

_LARGEST_REPORT = 16 * 1024 * 1024
_NEEDED_OF_TOOL = (
    "kind", "inputSchema", "outputSchema", "function", "wrapsResult", "command", "argv", "parser", "stdin", "entry",
)
# Loads the wrapper by its path and from nowhere else: neither the folder that the script runs in nor the script's own may put
# another module in its place, nor in the place of one of the standard library that it needs.
_LOADER = """\
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
folder, name, module, is_private, function = sys.argv[1:]
class Finder:
    @staticmethod
    def find_spec(wanted, path=None, target=None):
        if wanted == name:
            from importlib.machinery import PathFinder
            return PathFinder.find_spec(name, [folder])
sys.meta_path.insert(0, Finder)
writes_none = sys.dont_write_bytecode
sys.dont_write_bytecode = writes_none and not is_private
__import__(module)
sys.dont_write_bytecode = writes_none
sys.meta_path.remove(Finder)
getattr(sys.modules[module], function)()
"""


class Call:
    """`on_line(stream, text)` gets the output. Then one of these is called: `on_end(outcome)`, `on_failure(error)` if the
    wrapper itself failed, or `on_cancelled()`."""

    def __init__(self, tool, arguments, on_line, on_end, on_failure, on_cancelled):
        self.tool = tool
        self.arguments = arguments
        self.on_line = on_line
        self.on_end = on_end
        self.on_failure = on_failure
        self.on_cancelled = on_cancelled
        self.on_leaving = lambda: None
        self.is_cancelled = False
        self.is_late = False
        self.process = None

    def end(self):
        if self.process is not None:
            self.process.end()

    def end_as_late(self):
        self.is_late = True
        self.end()


class CallRunner:
    def __init__(self, settings, offer, folder, alarms):
        self._settings = settings
        self._offer = offer
        self._folder = folder
        self._deadlines, self._flushes = alarms
        command = [settings.python_executable, "-u", "-c", _LOADER, *own_module(folder), run_child.__name__]
        environment = {"PYTHONIOENCODING": "utf-8", **os.environ}
        place, memory = settings.working_dir, settings.max_memory_mb
        self.ready = ReadyProcesses(lambda: start_process(command, environment, place, memory))

    def run(self, call):
        """The outcome; None if the call was cancelled. OSErrors are failures of the wrapper itself."""
        import threading

        base = os.path.join(self._folder, new_id())
        job = self._job_of(call, base)
        start = time.monotonic()
        output = OutputLines(self._settings, self._flushes, call.on_line)
        try:
            call.process = process = self.ready.take()
            readers = [
                threading.Thread(target=output.read, args=(stream, getattr(process, stream)), daemon=True)
                for stream in ("stdout", "stderr")
            ]
            alarm = self._deadlines.set(self._settings.max_execution_time, call.end_as_late)
            try:
                for reader in readers:
                    reader.start()
                if call.is_cancelled:
                    process.end()  # the cancellation came before there was anything to end
                process.hand_over(json.dumps(job).encode() + b"\n")
                self.ready.refill()
                process.wait()
            finally:
                self._deadlines.cancel(alarm)
                status = process.leave()
                self._finish_reading(process, readers, output)
            report = _read_report(job["result"])
        finally:
            _remove_files(job["result"], job["stdin"])
        if call.is_cancelled:
            return None
        return self._outcome(call, status, report, output, time.monotonic() - start)

    def _job_of(self, call, base):
        file = self._offer.file_of(call.tool)
        return {
            "script": file.script,
            "package": file.package,
            "tool": {name: call.tool.get(name) for name in _NEEDED_OF_TOOL},
            "arguments": call.arguments,
            "stdin": f"{base}.in",
            "result": f"{base}.out",
            "memoryMb": self._settings.max_memory_mb,
            "allowNetwork": self._settings.allow_network,
            "allowFileWrite": self._settings.allow_file_write,
        }

    def _finish_reading(self, process, readers, output):
        """A process that left the group may still hold the pipes; then it is ended first."""
        for wait in (0.1, 2):
            for reader in readers:
                reader.join(wait)
            if not any(reader.is_alive() for reader in readers):
                process.stdout.close()
                process.stderr.close()
                break
            process.end_rest()
        output.close()

    def _outcome(self, call, status, report, output, seconds):
        outcome = {
            "stdout": output.text("stdout"),
            "stderr": output.text("stderr"),
            "linesLeftOut": output.lines_left_out(),
            "exitCode": status,
            "seconds": round(seconds, 3),
        }
        if report is None and call.tool["kind"] == "script" and status >= 0 and not call.is_late:
            report = {}  # it ended by os._exit, or became another program
        if report is None:
            # The report is written last: one that was finished in time is not late.
            return {**outcome, "kind": "timed-out" if call.is_late else "broke-off"}
        if "exception" in report:
            return {**outcome, "kind": "failed", "exception": report["exception"]}
        if "issues" in report:
            return {**outcome, "kind": "invalid", "issues": report["issues"]}
        if "exit" in report:
            return {**outcome, "kind": "left"}
        return {**outcome, "kind": "finished", "value": report.get("value"), "unfit": report.get("unfit")}


def own_module(folder):
    """Returns the location of the wrapper's own code: the folder, the name to find there, the module that the subprocess starts
    with, and whether it is a private copy. Python keeps bytecode next to the code; if that folder cannot
    or must not be written, a copy of the code is used."""
    if __package__:
        package = sys.modules[__package__]
        above = os.path.dirname(os.path.dirname(os.path.abspath(package.__file__)))
        return above, __package__, run_child.__module__, ""
    own = os.path.abspath(__file__)
    name = os.path.splitext(os.path.basename(own))[0]
    if os.access(os.path.dirname(own), os.W_OK) and not sys.dont_write_bytecode:
        return os.path.dirname(own), name, name, ""
    import shutil

    shutil.copy(own, folder)
    return folder, name, name, "private"


def _read_report(path):
    """The report of the process; None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_REPORT + 1)
        report = json.loads(data) if len(data) <= _LARGEST_REPORT else None
    except (OSError, ValueError, RecursionError):
        return None
    return report if isinstance(report, dict) else None


def _remove_files(*paths):
    for path in paths:
        try:
            if path is not None:
                os.unlink(path)
        except OSError:
            pass
