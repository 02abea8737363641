"""Runs that reach a proxy on a unix socket: a real fork server, and a stand-in for the proxy that tells who called."""

import contextlib
import os
import queue
import select
import socket
import threading
import time
import unittest

import python_half  # puts the Python half on the path
from pungi.jail import system
from pungi.limits import watch
from pungi.run import frames
from pungi.jail.tier import TIERS
from test_fork_server import DEADLINE, LIMITS, SANDBOX_UID, Server

_ASK = """
import socket
def ask(text):
    with socket.create_connection(("127.0.0.1", 3128)) as client:
        client.sendall(text)
        client.shutdown(socket.SHUT_WR)
        parts = []
        while data := client.recv(65536):
            parts.append(data)
        return b"".join(parts)
"""


class Proxy:
    """Answers whatever it is sent with the same, once the caller has said all. `serve` may do something else instead."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "network.sock")
        self.calls = queue.Queue()
        self.serve = self.echo
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(256)
        if os.getuid() == 0:
            os.chown(self.path, SANDBOX_UID, SANDBOX_UID)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.welcome, args=(client,), daemon=True).start()

    def welcome(self, client):
        client.settimeout(DEADLINE)
        with client, client.makefile("rwb") as file, contextlib.suppress(OSError):
            caller = file.readline().decode().strip()
            self.calls.put(caller)
            self.serve(caller, client, file)

    @staticmethod
    def echo(_caller, _client, file):
        file.write(file.read())

    def close(self):
        self.listener.close()


class NetworkServer(Server):
    def say(self, order):
        if "tier" in order:
            self.proxy = Proxy(self.folder)
            order = {"data": [], **order, "network": {"socket": self.proxy.path}}
        super().say(order)

    def forwarder(self):
        """The first that the fork server forks."""
        [fork_server] = watch.children_of(self.process.pid)
        return watch.children_of(fork_server)[0]

    def close(self):
        self.proxy.close()
        super().close()


@unittest.skipUnless(system.IS_LINUX, "namespaces are Linux's")
class Network(unittest.TestCase):
    def setUp(self):
        self.server = NetworkServer("namespace")
        self.addCleanup(self.server.close)
        self.proxy = self.server.proxy

    def test_bytes_pass_both_ways_under_the_name_of_the_run(self):
        supervisor = self.server.park("first")
        for run in range(2):
            supervisor.run_and_stay("print(1)")
            supervisor.expect(frames.PARKED)
        answer = supervisor.run(_ASK + "print(ask(b'hello'))")
        self.assertEqual(answer["stdout"], b"b'hello'\n", answer)
        self.assertEqual(self.proxy.calls.get(timeout=DEADLINE), "first.2")

    def test_much_passes_both_ways(self):
        at_once = "import threading\n        say = lambda: (client.sendall(text), client.shutdown(socket.SHUT_WR))\n"
        at_once += "        threading.Thread(target=say).start()"
        code = _ASK.replace("client.sendall(text)\n        client.shutdown(socket.SHUT_WR)", at_once)
        code += "import os\nsent = os.urandom(1 << 20) * 10\nprint(ask(sent) == sent)"

        def echo_at_once(_caller, _client, file):
            while data := file.read1(100_000):
                file.write(data)
                file.flush()

        self.proxy.serve = echo_at_once
        self.assertEqual(self.server.park().run(code)["stdout"], b"True\n")

    def test_an_answer_that_nobody_takes_is_dropped_with_the_run(self):
        ended = queue.Queue()

        def flood(_caller, client, _file):
            try:
                while True:
                    client.sendall(b"x" * 65536)
            except OSError:
                ended.put(True)

        self.proxy.serve = flood
        supervisor = self.server.park()
        code = "import socket\nclient = socket.create_connection(('127.0.0.1', 3128))\nprint(len(client.recv(10)))"
        self.assertEqual(supervisor.run(code)["stdout"], b"10\n")
        self.assertTrue(ended.get(timeout=DEADLINE))

    def test_a_process_that_stays_behind_loses_its_connection(self):
        ended = queue.Queue()

        def listen_to_the_end(caller, client, file):
            said = file.read(4)
            client.sendall(b"heard")  # else the run may be over before its connection is taken, and so never be
            said += file.read()
            poller = select.poll()
            poller.register(client, 0)
            # That it says no more is not enough: nobody must be there to be answered, either.
            ended.put((caller, said, bool(poller.poll(DEADLINE * 1000))))

        self.proxy.serve = listen_to_the_end
        supervisor = self.server.park("left")
        code = (
            "import os, socket, time\n"
            "client = socket.create_connection(('127.0.0.1', 3128))\nclient.sendall(b'said')\nclient.recv(5)\n"
            "if os.fork() == 0:\n    time.sleep(60)\n"
        )
        self.assertEqual(supervisor.run_and_stay(code)["end"]["status"], 0)
        self.assertEqual(ended.get(timeout=2 * DEADLINE), ("left.0", b"said", True))
        supervisor.connection.close()

    def test_connections_of_a_run_that_was_killed_end_with_it(self):
        ended = queue.Queue()
        self.proxy.serve = lambda caller, client, file: ended.put(file.read())
        code = "import socket\nclient = socket.create_connection(('127.0.0.1', 3128))\nwhile True: pass"
        answer = self.server.park().run(code, {**LIMITS, "timeoutMs": 300})
        self.assertEqual(answer["end"]["killedFor"], "timeout")
        self.assertEqual(ended.get(timeout=DEADLINE), b"")

    def test_one_run_cannot_use_up_the_connections_of_another(self):
        self.proxy.serve = lambda caller, client, file: file.read()
        greedy, modest = self.server.park("greedy"), self.server.park("modest")
        greedy.start(
            "import socket, threading\nkept = []\n"
            "def connect():\n    kept.append(socket.create_connection(('127.0.0.1', 3128)))\n"
            "for _ in range(180): connect()\n"
            "print('many')\nthreading.Event().wait()",
            {**LIMITS, "openFiles": 256},
        )
        self.assertEqual(greedy.expect(frames.STDOUT), b"many\n")
        callers = [self.proxy.calls.get(timeout=DEADLINE) for _ in range(128)]
        self.assertEqual(set(callers), {"greedy.0"})
        self.proxy.serve = self.proxy.echo
        self.assertEqual(modest.run(_ASK + "print(ask(b'mine'))")["stdout"], b"b'mine'\n")
        self.assertEqual(self.proxy.calls.get(timeout=DEADLINE), "modest.0")
        greedy.connection.close()

    def test_it_is_not_charged_to_the_run(self):
        code = _ASK + "ask(b'x' * 1000000)\nimport os\n"
        # The supervisor, the template of its workers, and the run.
        code += "print({n for n in os.listdir('/proc') if n.isdigit()} == {'1', '2', str(os.getpid())})"
        answer = self.server.park().run(code, {**LIMITS, "processes": 1})
        self.assertEqual(answer["stdout"], b"True\n", answer)

    def test_buffers_of_a_connection_stay_below_what_is_counted_for_a_socket(self):
        self.proxy.serve = lambda caller, client, file: threading.Event().wait(DEADLINE)
        code = (
            "import socket\nclient = socket.create_connection(('127.0.0.1', 3128))\nclient.setblocking(False)\n"
            "sent = 0\nimport time\nend = time.monotonic() + 0.5\n"
            "while time.monotonic() < end:\n"
            "    try:\n        sent += client.send(b'x' * 65536)\n"
            "    except BlockingIOError:\n        time.sleep(0.01)\n"
            "print(sent)"
        )
        sent = int(self.server.park().run(code)["stdout"])
        self.assertLess(sent, 1 << 20)

    def test_a_fork_server_that_lost_its_forwarder_ends(self):
        self.server.park().connection.close()
        forwarder = self.server.forwarder()
        self.server.listener.settimeout(1)
        os.kill(forwarder, 9)
        deadline = time.monotonic() + DEADLINE
        while self.server.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(AssertionError, OSError):
                self.server.park().connection.close()
        # The guard sees its end, or fails to ask it for a supervisor, whichever comes first.
        self.assertIn(self.server.process.poll(), (1, 75))

    def test_other_tiers_refuse(self):
        with self.assertRaisesRegex(OSError, "namespace tier only"):
            TIERS["landlock"].start_forwarder(99)

    def test_without_a_network_there_is_none(self):
        server = Server("namespace")
        self.addCleanup(server.close)
        code = "import os, socket\nprint([n for n in os.environ if 'proxy' in n.lower()])\n"
        code += "socket.create_connection(('127.0.0.1', 3128))"
        answer = server.park().run(code)
        self.assertEqual(answer["stdout"], b"[]\n")
        self.assertEqual(answer["report"]["exception"]["type"], "ConnectionRefusedError")


if __name__ == "__main__":
    unittest.main()
