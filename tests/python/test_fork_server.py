"""The Python half as a whole, with this interpreter: a real fork server, spoken to as the server would."""

import base64
import hashlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import unittest

import python_half
from pungi import frames, system

SANDBOX_UID = 1_900_000_000
DEADLINE = 30
LIMITS = {
    "timeoutMs": 20_000, "cpuMs": 20_000, "memoryMb": 256, "processes": 32, "openFiles": 128, "diskMb": 16,
    "outputBytes": 100_000, "outputHardBytes": 1_000_000,
}


class Server:
    """The other end of the fork server: it listens, orders workers and hands out jobs."""

    def __init__(self, tier, preload=()):
        self.folder = tempfile.mkdtemp(prefix="pungi-test-")
        self.work = os.path.join(self.folder, "work")
        os.mkdir(self.work, 0o700)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.settimeout(DEADLINE)
        path = os.path.join(self.folder, "socket")
        self.listener.bind(path)
        self.listener.listen(8)
        if os.getuid() == 0:
            os.chmod(self.folder, 0o711)
            os.chown(path, SANDBOX_UID, SANDBOX_UID)
            os.chown(self.work, SANDBOX_UID, SANDBOX_UID)
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(python_half.FOLDER)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/",
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
        settings = {
            "tier": tier, "socket": path, "workBase": self.work, "preload": list(preload), "roots": [], "diskMb": 16,
            "uid": SANDBOX_UID,
        }
        self.say(settings)

    def say(self, order):
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def park(self, worker_id="1"):
        self.say({"park": worker_id, "token": f"token of {worker_id}"})
        ready, _, _ = select.select([self.listener, self.process.stderr], [], [], DEADLINE)
        if self.listener not in ready:
            said = self.process.stderr.readline().decode() if ready else "nothing"
            if "failed" in said or not ready:
                raise AssertionError(f"no worker came; the fork server said {said}")
        connection, _ = self.listener.accept()
        connection.settimeout(DEADLINE)
        return Worker(connection)

    def close(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.listener.close()
        subprocess.run(["rm", "-rf", self.folder], check=True)


class Worker:
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
        job = {"code": code, "filename": "main.py", "argv": [], "stdin": "", "files": [], "env": {}, "limits": limits, **more}
        self.connection.sendall(
            frames.pack(frames.LIMITS, json.dumps(limits).encode()) + frames.pack(frames.JOB, json.dumps(job).encode())
        )
        return self.finish()

    def finish(self):
        answer = {"stdout": b"", "stderr": b"", "report": None, "end": None}
        while True:
            kind, payload = self.next()
            if kind == frames.STDOUT:
                answer["stdout"] += payload
            elif kind == frames.STDERR:
                answer["stderr"] += payload
            elif kind == frames.REPORT:
                answer["report"] = json.loads(payload)
            elif kind == frames.END:
                answer["end"] = json.loads(payload)
                self.connection.close()
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


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class ForkServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tier = tier_that_works()
        assert cls.tier is not None, "no tier can be entered"
        cls.server = Server(cls.tier, preload=["decimal", "no_such_module"])
        cls.addClassCleanup(cls.server.close)

    def test_a_run(self):
        worker = self.server.park("run-1")
        self.assertEqual(worker.hello, {"id": "run-1", "token": "token of run-1"})
        self.assertEqual(worker.about["python"], sys.version.split()[0])
        answer = worker.run(
            "import sys\nprint(__name__, sys.argv, context, input())\nprint('err', file=sys.stderr)\n6 * 7",
            argv=["a"], stdin="line\n", context={"ż": None},
        )
        self.assertEqual(answer["stdout"].decode(), "__main__ ['main.py', 'a'] {'ż': None} line\n")
        self.assertEqual(answer["stderr"], b"err\n")
        self.assertEqual(answer["report"]["value"], {"type": "int", "repr": "42", "json": 42})
        self.assertEqual((answer["end"]["status"], answer["end"]["killedFor"], answer["end"]["signal"]), (0, None, None))
        self.assertGreater(answer["end"]["peakBytes"], 1 << 20)

    def test_files_are_placed(self):
        content = os.urandom(3000)
        answer = self.server.park().run(
            "import hashlib\nprint(hashlib.sha256(open('a/b.bin', 'rb').read()).hexdigest())",
            files=[{"path": "a/b.bin", "base64": base64.b64encode(content).decode()}],
        )
        self.assertEqual(answer["stdout"].decode().strip(), hashlib.sha256(content).hexdigest())

    def test_preloaded_modules_are_there(self):
        answer = self.server.park().run("import sys\nprint('decimal' in sys.modules)")
        self.assertEqual(answer["stdout"], b"True\n")

    def test_an_exception(self):
        answer = self.server.park().run("def f():\n    return {}['key']\nf()\n")
        exception = answer["report"]["exception"]
        self.assertEqual((exception["type"], exception["line"], exception["text"]), ("KeyError", 2, "    return {}['key']"))
        self.assertEqual(exception["column"], 12 if sys.version_info >= (3, 11) else None)
        self.assertEqual(answer["end"]["status"], 1)

    def test_a_timeout_and_what_was_printed(self):
        answer = self.server.park().run("print('going')\nimport threading\nthreading.Event().wait()", {**LIMITS, "timeoutMs": 200})
        self.assertEqual((answer["end"]["killedFor"], answer["stdout"]), ("timeout", b"going\n"))

    def test_memory(self):
        answer = self.server.park().run("kept = []\nwhile True: kept.append(b'x' * 2**20)", {**LIMITS, "memoryMb": 64})
        self.assertEqual(answer["end"]["killedFor"], "memory")

    def test_processes(self):
        code = "import os, signal\nfor _ in range(9):\n    if os.fork() == 0:\n        while True: signal.pause()\nsignal.pause()"
        answer = self.server.park().run(code, {**LIMITS, "processes": 5})
        self.assertEqual(answer["end"]["killedFor"], "processes")

    def test_cancelling(self):
        worker = self.server.park()
        job = json.dumps({
            "code": "print('going')\nimport signal\nsignal.pause()", "filename": "main.py", "argv": [], "stdin": "",
            "files": [], "env": {}, "limits": LIMITS,
        })
        limits = json.dumps(LIMITS).encode()
        worker.connection.sendall(frames.pack(frames.LIMITS, limits) + frames.pack(frames.JOB, job.encode()))
        self.assertEqual(worker.expect(frames.STDOUT), b"going\n")
        worker.connection.sendall(frames.pack(frames.CANCEL))
        self.assertEqual(worker.finish()["end"]["killedFor"], "cancelled")

    def test_threads_and_subprocesses(self):
        code = (
            "import subprocess, sys, threading\n"
            "thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
            "print(subprocess.check_output([sys.executable, '-I', '-c', 'print(1 + 1)']))\n"
        )
        self.assertEqual(self.server.park().run(code)["stdout"], b"thread\nb'2\\n'\n")

    def test_precompiling(self):
        compiled = self.server.park().run("x = 6\nx * 7", compile=True)["report"]["bytecode"]
        answer = self.server.park().run("x = 6\nx * 7", bytecode=compiled)
        self.assertEqual(answer["report"]["value"]["json"], 42)
        broken = self.server.park().run("x = = 1", compile=True)
        self.assertEqual(broken["report"]["exception"]["type"], "SyntaxError")

    def test_foreign_code_is_never_root(self):
        answer = self.server.park().run("import os\nprint(os.getuid(), os.geteuid(), os.getgroups())")
        uid, euid, groups = answer["stdout"].decode().split(" ", 2)
        self.assertNotEqual((uid, euid), ("0", "0"))
        if os.getuid() == 0:
            self.assertEqual((uid, euid), (str(SANDBOX_UID), str(SANDBOX_UID)))

    def test_a_worker_whose_server_hangs_up_is_gone(self):
        worker = self.server.park("left")
        worker.connection.close()
        self.assertEqual(self.server.park("next").run("print(1)")["stdout"], b"1\n")
        self.assertNotIn("left", os.listdir(self.server.work))


@unittest.skipUnless(system.IS_LINUX, "tiers of this kind are Linux's")
class Refusals(unittest.TestCase):
    def test_an_interpreter_that_would_show_the_home_is_refused_with_one_line_of_json(self):
        settings = {
            "tier": "namespace", "socket": os.devnull, "workBase": "/nowhere", "preload": [], "roots": ["/"], "diskMb": 16,
            "uid": SANDBOX_UID,
        }
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "utf8", str(python_half.FOLDER)],
            input=json.dumps(settings).encode() + b"\n", capture_output=True, timeout=DEADLINE,
        )
        self.assertEqual(done.returncode, 75)
        self.assertIn("would make / visible", json.loads(done.stderr)["failed"])


if __name__ == "__main__":
    unittest.main()
