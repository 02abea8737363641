import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

import python_half
from standalone_folder import WrapperCase, function_tool, is_alive, script_tool, until

from standalone import processes

LEAF = "def leaf(): return subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], stdout=subprocess.DEVNULL)"
# Starts a child, a child of that child in a session of its own, and one that no process claims; says their numbers; waits.
FAMILY = """
import os, subprocess, sys, time
LEAF = [sys.executable, "-c", "import time; time.sleep(600)"]
def family(stays=True):
    child = subprocess.Popen(LEAF)
    away = subprocess.Popen(LEAF, start_new_session=True)
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            for descriptor in (0, 1, 2):
                os.close(descriptor)
            time.sleep(600)
        os._exit(0)
    lost = int(os.read(read, 20))
    print(os.getpid(), child.pid, away.pid, lost, flush=True)
    if stays:
        time.sleep(600)
if __name__ == "__main__":
    family()
"""


class TreeCase(WrapperCase):
    def begin(self, wrapper, request_id=1, **arguments):
        """Calls it and gives the numbers of all of its processes."""
        params = {"name": "family", "arguments": arguments, "_meta": {"progressToken": "t"}}
        wrapper.send({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})
        numbers = [int(word) for word in wrapper.read()["params"]["message"].split()]
        self.assertEqual(len(numbers), 4)
        return numbers

    def assert_gone(self, numbers):
        until(lambda: not any(map(is_alive, numbers)))


@unittest.skipUnless(os.path.isdir("/proc/self"), "there is no /proc here")
class Trees(TreeCase):
    def setUp(self):
        super().setUp()
        self.temporary = self.make("temporary")

    def begun(self, **variables):
        tool = function_tool("family", stays={"type": "boolean"})
        wrapper = self.start(FAMILY, tool, TMPDIR=self.temporary, **variables)
        return wrapper, self.begin(wrapper)

    def test_a_timeout_ends_all_of_them_and_says_so(self):
        wrapper, numbers = self.begun(WRAPPER_MAX_EXECUTION_TIME="3")
        result = wrapper.answer_to(1)["result"]
        self.assertTrue(result["isError"])
        self.assertIn("ended after 3 seconds (WRAPPER_MAX_EXECUTION_TIME)", result["content"][0]["text"])
        self.assertIn(str(numbers[0]), result["content"][1]["text"])  # what it had printed
        self.assert_gone(numbers)

    def test_a_cancellation_ends_all_of_them_and_is_not_answered(self):
        wrapper, numbers = self.begun()
        wrapper.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "enough"}})
        self.assert_gone(numbers)
        until(lambda: wrapper.request("HealthCheck", request_id=2)["result"]["running"] == 0)
        self.assertEqual(wrapper.read_kept(), [])

    def test_the_end_of_a_call_ends_what_it_left_behind(self):
        tool = function_tool("family", stays={"type": "boolean"})
        wrapper = self.start(FAMILY, tool)
        numbers = self.begin(wrapper, stays=False)
        self.assertNotIn("isError", wrapper.answer_to(1)["result"])
        self.assert_gone(numbers)

    def test_a_client_that_is_gone_ends_everything(self):
        wrapper, numbers = self.begun()
        wrapper.process.stdout.close()
        self.assertEqual(wrapper.close(), 0)
        self.assert_gone(numbers)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_a_client_that_closes_its_end_may_end_everything_by_a_signal(self):
        wrapper, numbers = self.begun()
        wrapper.process.stdin.close()
        wrapper.process.terminate()
        self.assertEqual(wrapper.process.wait(60), 128 + signal.SIGTERM)
        self.assert_gone(numbers)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_calls_are_answered_though_standard_input_ends_right_after_them(self):
        script = "import time\ndef double(n):\n    time.sleep(1)\n    return n * 2"
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        calls = [("CallTool", {}), ("tools/call", {}), ("tools/call", {"_meta": meta})]
        self.write_folder(script, function_tool("double", n={"type": "integer"}))
        for calls_at_once in ([calls[0]], [calls[1]], [calls[2]], calls):
            wrapper = self.start_again(TMPDIR=self.temporary)
            for number, (method, more) in enumerate(calls_at_once):
                params = {"name": "double", "arguments": {"n": number}, **more}
                wrapper.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            wrapper.send({"jsonrpc": "2.0", "id": "last", "method": "tools/list"})
            self.assertEqual(wrapper.close(), 0)
            for number in range(len(calls_at_once)):
                result = wrapper.answer_to(number)["result"]
                value = result["value"] if "value" in result else result["structuredContent"]["result"]
                self.assertEqual(value, number * 2)
            self.assertIn("tools", wrapper.answer_to("last")["result"])
            self.assertEqual(os.listdir(self.temporary), [])

    def test_signals_end_everything(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            wrapper, numbers = self.begun()
            wrapper.process.send_signal(number)
            self.assertEqual(wrapper.process.wait(60), 128 + number)
            self.assert_gone(numbers)
            self.assertEqual(os.listdir(self.temporary), [])

    def test_a_signal_that_does_not_interrupt_the_read_is_noticed(self):
        # Another thread gets it, as in the moment before the read begins: nothing of it reaches the read.
        code = """
        import os, signal, sys, threading
        sys.path.insert(0, sys.argv[1])
        from standalone.stop_signals import Stop, catch_signals
        other = threading.Timer(0.2, lambda: (os.kill(os.getpid(), signal.SIGTERM), threading.Event().wait(20)))
        other.daemon = True
        other.start()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        try:
            catch_signals()(0, 10)
        except Stop as stop:
            os._exit(stop.args[0])
        """
        command = [sys.executable, "-c", textwrap.dedent(code), str(python_half.FOLDER)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.wait(60), signal.SIGTERM)

    def test_a_client_that_reads_no_more_ends_everything(self):
        script = "import time\ndef family():\n    while True:\n        print(1, 2, 3, 4, flush=True)\n        time.sleep(0.01)"
        wrapper = self.start(script, function_tool("family"))
        self.begin(wrapper)
        wrapper.process.stdout.close()
        self.assertEqual(wrapper.process.wait(60), 0)

    @unittest.skipUnless(os.uname().sysname == "Linux", "the kernel does this on Linux only")
    def test_a_wrapper_that_is_killed_takes_the_group_with_it(self):
        wrapper, numbers = self.begun()
        wrapper.process.kill()
        self.assert_gone(numbers[:2])
        for number in numbers[2:]:  # which left the group, and whom nobody looks for any more
            os.kill(number, signal.SIGKILL)

    def test_scripts_are_ended_as_functions_are(self):
        wrapper = self.start(FAMILY, script_tool("family"))
        numbers = self.begin(wrapper)
        wrapper.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        self.assert_gone(numbers)


class Groups(TreeCase):
    """As where there is no list of processes to look at."""

    def setUp(self):
        super().setUp()
        for name, found in (("find_strays", []), ("end_strays", None)):
            self.addCleanup(setattr, processes, name, getattr(processes, name))
            setattr(processes, name, lambda *_, found=found: found)

    def started(self, code):
        command = [sys.executable, "-c", f"import subprocess, sys, time\n{LEAF}\n{code}"]
        process = processes.start_process(command, dict(os.environ), self.base, 100)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process, [int(word) for word in process.stdout.readline().split()]

    def test_the_group_is_ended(self):
        process, numbers = self.started("print(leaf().pid, flush=True); time.sleep(600)")
        process.end()
        process.wait()
        self.assertEqual(process.leave(), -signal.SIGKILL)
        self.assert_gone(numbers)
        process.end()  # once more does no harm

    def test_the_rest_of_it_is_ended_when_its_first_has_gone(self):
        process, numbers = self.started("print(leaf().pid, flush=True)")
        process.wait()
        self.assertEqual(process.leave(), 0)
        self.assert_gone(numbers)


class Readiness(WrapperCase):
    def test_the_process_that_waits_for_a_call_may_die_unnoticed(self):
        wrapper = self.start("import os\ndef number(): return os.getpid()", function_tool("number"))
        wrapper.call("number")
        waiting = until(lambda: self.children(wrapper))
        for number in waiting:
            os.kill(number, signal.SIGKILL)
        until(lambda: not any(map(is_alive, waiting)))
        self.assertNotIn(wrapper.call("number")["structuredContent"]["result"], waiting)

    def test_every_call_has_a_process_of_its_own(self):
        wrapper = self.start("import os\ndef number(): return os.getpid()", function_tool("number"))
        numbers = {wrapper.call("number")["structuredContent"]["result"] for _ in range(5)}
        self.assertEqual(len(numbers), 5)

    def children(self, wrapper):
        with open(f"/proc/{wrapper.process.pid}/task/{wrapper.process.pid}/children", encoding="ascii") as file:
            main = file.read().split()
        others = []
        for task in os.listdir(f"/proc/{wrapper.process.pid}/task"):
            with open(f"/proc/{wrapper.process.pid}/task/{task}/children", encoding="ascii") as file:
                others += file.read().split()
        return [int(number) for number in {*main, *others}]


class PrivateFolder(WrapperCase):
    def test_nothing_is_left_in_it_after_a_call_and_others_cannot_look(self):
        folder = self.make("temporary")
        wrapper = self.start("def f(): return 1", function_tool("f"), TMPDIR=folder)
        wrapper.call("f")
        (private,) = os.listdir(folder)
        until(lambda: os.listdir(os.path.join(folder, private)) == [])
        self.assertEqual(os.stat(os.path.join(folder, private)).st_mode & 0o777, 0o700)
        self.assertNotEqual(folder, tempfile.gettempdir())


if __name__ == "__main__":
    unittest.main()
