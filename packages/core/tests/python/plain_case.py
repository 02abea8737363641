"""Runs code in Pungi and as `python main.py` with pipes, in the same environment, and expects the same of both."""

import base64
import json
import re
import sys
import unittest

import python_half  # noqa: F401
from pungi.jail import system
from pungi.run import frames
from serving import LIMITS, Server

TIERS = ("namespace", "landlock")
# The landlock tier needs one that every user can read.
_INTERPRETERS = (sys.executable, "/usr/bin/python3")
# Starts main.py as anybody would, inside of the sandbox, so that folders and identity are the same.
_OUTER = """
import json, subprocess, sys
entries = {"stdin": subprocess.DEVNULL} if not STDIN else {"input": STDIN.encode()}
import os
os.remove(__file__)
ended = subprocess.run([sys.executable, "main.py"], capture_output=True, **entries)
print(json.dumps([ended.returncode, ended.stdout.decode("latin-1"), ended.stderr.decode("latin-1")]))
"""


@unittest.skipUnless(system.IS_LINUX, "the tiers are Linux's")
class PlainCase(unittest.TestCase):
    """Of one environment: `settings` are those of the fork server."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.servers = {}
        for tier in TIERS:
            server = next(filter(None, (cls._start(tier, python) for python in _INTERPRETERS)), None)
            if server is not None:
                cls.servers[tier] = server
                cls.addClassCleanup(server.close)
                cls.addClassCleanup(lambda server=server: server.supervisor.connection.close())
        assert cls.servers, "no tier can be entered"

    @classmethod
    def _start(cls, tier, python):
        server = Server(tier, **{"python": python, **cls.settings})
        try:
            server.supervisor = server.park()
        except (AssertionError, OSError):
            server.close()
            return None
        return server

    def run_in(self, server, code, *arguments, **more):
        answer = server.supervisor.run_and_stay(code, *arguments, **more)
        if server.supervisor.next()[0] != frames.PARKED:
            server.supervisor.connection.close()
            server.supervisor = server.park()
        return answer

    def assertAsPlain(self, code, stdin="", files=(), prints_traceback=True):
        """The same status, stdout and stderr. `files`: name to text. `prints_traceback`: where plain Python prints an exception,
        we report it, which then counts as the end of stderr. Gives stdout of the last tier."""
        files = {**dict(files), "main.py": code}
        placed = [{"path": name, "base64": base64.b64encode(text.encode()).decode()} for name, text in files.items()]
        limits = {**LIMITS, "outputHardBytes": 20_000_000}
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                plain = self.run_in(server, f"STDIN = {stdin!r}{_OUTER}", limits, filename="outer.py", files=placed)
                self.assertEqual(plain["end"]["status"], 0, plain)
                run = self.run_in(server, code, limits, stdin=stdin, files=placed[:-1])
                traceback = ((run["report"] or {}).get("exception") or {}).get("traceback", "").encode()
                traceback = traceback if prints_traceback else b""
                ended = [run["end"]["status"], run["stdout"].decode("latin-1"), (run["stderr"] + traceback).decode("latin-1")]
                expected = json.loads(plain["stdout"].decode().splitlines()[-1])
                self.assertEqual([*map(_comparable, ended)], [*map(_comparable, expected)])
        return ended[1]

    def run_everywhere(self, code, **more):
        """What is printed, in each tier; the run must end well."""
        for tier, server in self.servers.items():
            with self.subTest(tier=tier):
                answer = self.run_in(server, code, **more)
                self.assertEqual((answer["end"]["status"], answer["stderr"]), (0, b""), answer)
                yield tier, answer["stdout"].decode()


def _comparable(said):
    """Without what differs from run to run. Reports name the script without its folder."""
    if not isinstance(said, str):
        return said
    said = re.sub(r'File "/[^"]*/(main|outer)\.py"', 'File "main.py"', said)
    return re.sub(r"\b0x[0-9a-f]{6,}\b", "0x…", said)
