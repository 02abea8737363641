"""The program: its command line, its start and its end."""

import os
import sys

from .alarms import Alarms
from .call_runner import CallRunner
from .calls_in_order import CallsInOrder
from .client_channel import Channel, ClientGone, take_standard_output
from .health import serve_health
from .line_reader import read_lines
from .methods import WRAPPER_VERSION, Methods
from .reports import Log
from .server import LONGEST_LINE, Server
from .settings import SETTINGS, SettingFault, read_settings
from .shown import printable_lines
from .stop_signals import Stop, catch_signals
from .tools_file import ToolsFileFault, has_changed, read_offer

_USAGE = """\
Usage: python wrapper.py [--health-port N] [--log-file FILE] [--list] [--version] [--help]

Offers the tools of the tools.json next to it to an MCP client on standard input and output.

  --health-port N   answer GET http://127.0.0.1:N/health (0: any free port, which the log names)
  --log-file FILE   add the log to this file (default: standard error)
  --list            print the tools and stop
  --version         print the version and stop

Settings, by variables of the environment:
"""


class _CommandFault(Exception):
    """An invalid command line."""


def main(arguments=None, folder=None):
    """Returns the exit status. Does not return from serving a client."""
    folder = folder or os.path.dirname(os.path.abspath(__file__))
    try:
        options = _read_options(sys.argv[1:] if arguments is None else arguments)
        if options.get("--help"):
            print(_USAGE + _settings_help())
            return 0
        if options.get("--version"):
            print(f"wrapper {WRAPPER_VERSION}")
            return 0
        offer = read_offer(folder)
        if options.get("--list"):
            print(_tool_lines(offer))
            return 0
        environ = dict(os.environ)
        if options.get("--log-file"):
            environ["WRAPPER_LOG_FILE"] = os.path.abspath(options["--log-file"])
        settings = read_settings(environ, folder)
    except (_CommandFault, ToolsFileFault, SettingFault) as fault:
        print("\n".join(printable_lines(str(fault))), file=sys.stderr)
        return 2
    return _Program(offer, settings).serve(options.get("--health-port"))


def _read_options(words):
    known = {"--help": False, "-h": False, "--version": False, "--list": False, "--log-file": True, "--health-port": True}
    options, waiting = {}, list(words)
    while waiting:
        name, has_value, value = waiting.pop(0).partition("=")
        if name not in known or has_value and not known[name]:
            raise _CommandFault(f"There is no option {name!r}; --help shows what there is.")
        if known[name] and not has_value:
            if not waiting:
                raise _CommandFault(f"{name} needs a value.")
            value = waiting.pop(0)
        options["--help" if name == "-h" else name] = value if known[name] else True
    port = options.get("--health-port")
    if port is not None:
        if not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise _CommandFault(f"--health-port is {port!r}; allowed is a whole number from 0 to 65535.")
        options["--health-port"] = int(port)
    return options


def _settings_help():
    lines = []
    for name, default, _, about in SETTINGS:
        note = "" if default is None else f" (default: {str(default).lower() if isinstance(default, bool) else f'{default:g}'})"
        lines.append(f"  {name:<27} {about}{note}")
    return "\n".join(lines)


def _tool_lines(offer):
    width = max(map(len, offer.tools), default=0)
    scripts = ", ".join(os.path.basename(each.script) for each in offer.files)
    lines = [f"{offer.name}: {len(offer.tools)} tools of {scripts}"]
    for tool in offer.tools.values():
        about = printable_lines(tool["description"].strip())[0]
        lines.append(f"  {tool['name']:<{width}}  {about}".rstrip())
    return "\n".join(lines)


class _Program:
    def __init__(self, offer, settings):
        import tempfile
        import threading

        self._offer = offer
        self._log = Log(settings.log_file)
        self._folder = tempfile.mkdtemp(prefix="wrapper-")
        alarms = Alarms("deadlines"), Alarms("flushes")
        self._runner = CallRunner(settings, offer, self._folder, alarms)
        self._calls = CallsInOrder(settings.max_concurrent, self._run)
        self._channel = Channel(take_standard_output())
        self._methods = Methods(offer, settings, self._channel, self._calls)
        self._server = Server(self._methods, self._channel, self._log)
        self._leaving = threading.Lock()

    def serve(self, health_port):
        status = 0
        try:
            read = catch_signals()
            if health_port is not None:
                port = serve_health(health_port, self._methods.health)
                self._log.write("INFO", f"health: http://127.0.0.1:{port}/health")
            for each in filter(has_changed, self._offer.files):
                self._log.write("WARNING", f"The script has changed since {each.filename} was made: wrap it again to be sure.")
            if os.isatty(0):
                self._log.write("INFO", "Waiting for an MCP client on standard input; --help says more. Ctrl+C ends it.")
            self._runner.ready.refill()
            for line in read_lines(0, LONGEST_LINE, read):
                self._server.take(line)
            # `echo … | python wrapper.py` closes its end and still reads the answers. A client that is gone reads nothing.
            self._calls.wait_until_idle(self._channel.has_reader)
        except ClientGone:
            pass
        except Stop as stop:
            status = 128 + stop.args[0]
        except OSError as error:
            self._log.write("ERROR", f"The wrapper stops: {error}")
            status = 1
        self._leave(status)

    def _run(self, call):
        """On a thread of the calls: runs one call and reports it to its client."""
        on_line = call.on_line
        call.on_line = lambda stream, text: self._tell(on_line, stream, text)
        try:
            outcome = self._runner.run(call)
        except Exception:
            error = self._server.failure("running a call")
            call.on_leaving()
            self._tell(call.on_failure, error)
        else:
            call.on_leaving()
            if outcome is not None:
                self._log_outcome(call, outcome)
                self._tell(self._answer, call, outcome)
        if call.process is not None:
            call.process.end_rest()  # nobody waits for this any more

    def _answer(self, call, outcome):
        try:
            call.on_end(outcome)
        except ClientGone:
            raise
        except Exception:
            call.on_failure(self._server.failure("making an answer"))

    def _tell(self, say, *what):
        try:
            say(*what)
        except ClientGone:
            self._leave(0)

    def _log_outcome(self, call, outcome):
        """Logs a script's own failures in full."""
        if outcome["kind"] == "finished":
            return
        details = [f"{call.tool['name']}: {outcome['kind']}, exit status {outcome['exitCode']}"]
        details += [outcome["exception"]["traceback"]] if "exception" in outcome else []
        details += [f"{name}:\n{outcome[name]}" for name in ("stdout", "stderr") if outcome[name]]
        self._log.write("SCRIPT", "\n".join(details))

    def _leave(self, status):
        """Ends the running calls, with everything that they have started, and the wrapper. Never returns."""
        import shutil
        import threading

        if not self._leaving.acquire(blocking=False):
            # Another thread is at it already.
            threading.Event().wait()
        try:
            self._calls.stop()
            self._runner.ready.close()
            shutil.rmtree(self._folder, ignore_errors=True)
        finally:
            os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
