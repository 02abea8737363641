"""The other end of the Python half, for its tests: a fork server is started and spoken to as the server would."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile

import python_half
from pungi.run import frames

SANDBOX_UID = 1_900_000_000
DEADLINE = 30
LIMITS = {
    "timeoutMs": 20_000, "cpuMs": 20_000, "memoryMb": 256, "processes": 32, "openFiles": 128, "diskMb": 16,
    "outputBytes": 100_000, "outputHardBytes": 1_000_000,
}
# What the server says to the supervisor beside the limits.
HINTS = {"reportBytes": 1024 * 1024, "isHurried": False, "isScoped": False}
LOADING = {"preloadTimeoutMs": 20_000, "memoryMb": 512, "mostSupervisors": 16}


class Server:
    """The other end of the fork server: it listens, orders supervisors and hands out jobs."""

    def __init__(self, tier, preload=(), data=(), python=sys.executable, **more):
        self.serial = 0
        self.folder = tempfile.mkdtemp(prefix="pungi-test-")
        self.work = os.path.join(self.folder, "work")
        os.mkdir(self.work, 0o700)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.settimeout(DEADLINE)
        path = os.path.join(self.folder, "socket")
        self.listener.bind(path)
        self.listener.listen(8)
        if os.getuid() == 0:
            for folder in (self.folder, self.work):
                os.chmod(folder, 0o711)
        command = [python, "-I", "-S", str(python_half.FOLDER), "fork-server"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
        settings = {
            "tier": tier, "socket": path, "workBase": self.work, "preload": list(preload), "roots": [], "diskMb": 16, "isBare": True,
            "uid": SANDBOX_UID, "data": list(data), "network": None, **LOADING, **more,
        }
        self.say(settings)

    def say(self, order):
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def park(self, name=None):
        """Orders a supervisor and waits until its first worker is parked."""
        self.serial += 1
        name = name or f"supervisor-{self.serial}"
        self.say({"start": name, "token": f"token of {name}"})
        while self.listener not in (ready := select.select([self.listener, self.process.stdout], [], [], DEADLINE)[0]):
            said = self.hear() if ready else {"failed": "nothing"}
            if "failed" in said:
                raise AssertionError(f"no supervisor came; the fork server said {said}")
        connection, _ = self.listener.accept()
        connection.settimeout(DEADLINE)
        return Supervisor(connection)

    def hear(self):
        """The next report, or that there is none any more."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": "and ended"}

    def close(self):
        # An order that a fork server no longer read is still in the buffer.
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(DEADLINE)
        self.process.stdout.close()
        self.listener.close()
        subprocess.run(["rm", "-rf", self.folder], check=True)


class Supervisor:
    """The server's end of one, with a worker parked."""

    def __init__(self, connection):
        self.connection = connection
        self.parser = frames.FrameParser()
        self.waiting = []
        self.hello = json.loads(self.expect(frames.HELLO))
        self.about = json.loads(self.expect(frames.PARKED))

    def next(self):
        while not self.waiting:
            data = self.connection.recv(65536)
            if not data:
                return None, b""
            self.parser.feed(data)
            self.waiting += self.parser.frames()
        return self.waiting.pop(0)

    def expect(self, kind):
        got, payload = self.next()
        assert got == kind, f"expected {chr(kind)}, got {got and chr(got)}: {payload!r}"
        return payload

    def run(self, code, limits=LIMITS, **more):
        """The only run of a supervisor."""
        try:
            return self.run_and_stay(code, limits, **more)
        finally:
            self.connection.close()

    def run_and_stay(self, code, limits=LIMITS, **more):
        self.start(code, limits, **more)
        return self.finish()

    def start(self, code, limits=LIMITS, hints=HINTS, **more):
        job = {"code": code, "filename": "main.py", "argv": [], "stdin": "", "files": [], "env": {}, "variables": {}, "limits": limits, **more}
        said = json.dumps({**limits, **hints}).encode()
        self.connection.sendall(frames.pack(frames.LIMITS, said) + frames.pack(frames.JOB, json.dumps(job).encode()))

    def finish(self):
        answer = {"stdout": b"", "stderr": b"", "displays": [], "summaries": [], "report": None, "end": None}
        while True:
            kind, payload = self.next()
            if kind == frames.STDOUT:
                answer["stdout"] += payload
            elif kind == frames.STDERR:
                answer["stderr"] += payload
            elif kind == frames.DISPLAY:
                answer["displays"].append((len(answer["stdout"]), json.loads(payload)))
            elif kind == frames.SUMMARY:
                answer["summaries"].append(json.loads(payload))
            elif kind == frames.REPORT:
                answer["report"] = json.loads(payload)
            elif kind == frames.END:
                answer["end"] = json.loads(payload)
                return answer
            elif kind is None:
                raise AssertionError(f"the supervisor went away: {answer}")


def tier_that_works():
    """The strongest that can be entered here with this interpreter."""
    for tier in ("namespace", "landlock", "process"):
        server = Server(tier)
        try:
            server.park().connection.close()
            return tier
        except (AssertionError, OSError):
            continue
        finally:
            server.close()
    return None
