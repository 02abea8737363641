"""A folder with a script, its tools.json, and the standalone wrapper as a process of its own, before it is bundled."""

import atexit
import collections
import json
import os
import select
import subprocess
import sys
import tempfile
import textwrap
import time

import python_half
from folder_case import FolderCase

# The modules are compiled once for all tests, outside of the source.
_COMPILED = tempfile.TemporaryDirectory(prefix="standalone-compiled-", ignore_cleanup_errors=True)
atexit.register(_COMPILED.cleanup)
_LAUNCH = """
import sys
sys.path.insert(0, sys.argv[1])
from standalone.main import main
sys.exit(main(sys.argv[3:], sys.argv[2]))
"""
PATIENCE = 60
NOTHING = {"type": "object", "properties": {}}
WHOLE = {"type": "integer"}
TEXT = {"type": "string"}


def function_tool(name, output=None, wraps=True, **properties):
    schema = {"type": "object", "properties": properties, "required": [], "additionalProperties": False}
    return {
        "kind": "function", "function": name, "isAsync": False, "wrapsResult": wraps, "name": name, "description": f"{name}.",
        "inputSchema": schema, "outputSchema": output, "line": 1, "source": {"description": "", "parameters": {}},
    }


def script_tool(name, argv=(), stdin="stdin", **properties):
    schema = {"type": "object", "properties": {**properties, "stdin": TEXT}}
    return {
        "kind": "script", "command": [], "argv": list(argv), "parser": "argparse", "stdin": stdin, "name": name,
        "description": f"{name}.",
        "inputSchema": schema, "outputSchema": None, "line": 1, "source": {"description": "", "parameters": {}},
    }


def wrapped_result(schema):
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


class Wrapper:
    """A client that knows nothing but lines of JSON."""

    def __init__(self, folder, arguments=(), **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WRAPPER_")}
        for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
            environment.pop(name, None)
        environment["PYTHONPYCACHEPREFIX"] = _COMPILED.name
        command = [sys.executable, "-c", _LAUNCH, str(python_half.FOLDER), folder, *arguments]
        self.errors = open(os.path.join(folder, "stderr.txt"), "w+b")
        self.process = subprocess.Popen(
            command, env={**environment, **variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors
        )
        self._pending = b""
        self._messages = collections.deque()

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def request(self, method, params=None, request_id=1):
        """The answer; what else comes before it is kept for `read`."""
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, **({} if params is None else {"params": params})})
        return self.answer_to(request_id)

    def call(self, name, arguments=None, request_id=1, **params):
        return self.request("tools/call", {"name": name, "arguments": arguments or {}, **params}, request_id)["result"]

    def answer_to(self, request_id):
        kept = []
        while True:
            message = self.read()
            if isinstance(message, dict) and message.get("id") == request_id and not {"partial", "method"} & message.keys():
                self._messages.extendleft(reversed(kept))
                return message
            kept.append(message)

    def read(self):
        """The next message. Everything on standard output must be one."""
        if self._messages:
            return self._messages.popleft()
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._pending:
            if not select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError("the wrapper says nothing")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise AssertionError(f"the wrapper has ended: {self.logged()}")
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)

    def read_kept(self):
        """What came besides the answers so far."""
        kept = list(self._messages)
        self._messages.clear()
        return kept

    def logged(self):
        self.errors.flush()
        with open(self.errors.name, encoding="utf-8") as file:
            return file.read()

    def close(self):
        """Its exit status, after the end of its standard input."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def stop(self):
        """Whatever it is doing."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE)
        for file in (self.process.stdin, self.process.stdout, self.errors):
            try:
                file.close()
            except OSError:
                pass  # what was written to nobody


class WrapperCase(FolderCase):
    def write_folder(self, script, /, *tools, **more):
        with open(os.path.join(self.base, "script.py"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(script))
        content = {
            "version": 1, "name": "sample", "description": "A sample.", "script": "script.py", "sha256": "", "mode": "both",
            "environment": None, "profile": None, "dependencies": [], "requiresPython": None, "missingImports": [],
            "modules": [], "tools": list(tools), "remarks": [], **more,
        }
        with open(os.path.join(self.base, "tools.json"), "w", encoding="utf-8") as file:
            json.dump(content, file)

    def start(self, script, /, *tools, arguments=(), **variables):
        self.write_folder(script, *tools)
        return self.start_again(arguments, **variables)

    def start_again(self, arguments=(), **variables):
        wrapper = Wrapper(self.base, arguments, **variables)
        self.addCleanup(wrapper.stop)
        return wrapper


def until(condition):
    """Waits for something that can be seen."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError("it does not come true")
        time.sleep(0.01)
    return found


def is_alive(number):
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False
