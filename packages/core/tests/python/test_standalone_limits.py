import os
import unittest

import python_half  # noqa: F401
from standalone_folder import WHOLE, WrapperCase, function_tool, script_tool, until


def texts(result):
    return [block["text"] for block in result["content"]]


class Memory(WrapperCase):
    @unittest.skipUnless(os.uname().sysname == "Linux", "held by the system on Linux only")
    def test_more_than_allowed_is_refused_and_the_limit_is_named(self):
        script = "def f(mb): return len(bytearray(mb << 20))"
        wrapper = self.start(script, function_tool("f", mb=WHOLE), WRAPPER_MAX_MEMORY_MB="100")
        result = wrapper.call("f", {"mb": 200})
        self.assertTrue(result["isError"])
        self.assertTrue(texts(result)[0].startswith("MemoryError"))
        self.assertIn("100 MiB (WRAPPER_MAX_MEMORY_MB)", texts(result)[0])
        self.assertNotIn("isError", wrapper.call("f", {"mb": 50}))


class Output(WrapperCase):
    def test_lines_beyond_the_limit_are_left_out_and_counted(self):
        script = "def f(n):\n    for i in range(n):\n        print(i)\n    return 'value'"
        wrapper = self.start(script, function_tool("f", n=WHOLE), WRAPPER_MAX_OUTPUT_LINES="5")
        result = wrapper.call("f", {"n": 12}, _meta={"progressToken": 1})
        self.assertEqual(texts(result)[:2], ["value", "stdout:\n0\n1\n2\n3\n4\n"])
        self.assertIn("WRAPPER_MAX_OUTPUT_LINES is 5", texts(result)[2])
        self.assertIn("7 lines were left out", texts(result)[2])
        self.assertEqual(len(wrapper.read_kept()), 5)
        self.assertEqual(len(texts(wrapper.call("f", {"n": 5}))), 2)

    def test_one_endless_line_is_bounded(self):
        script = "import sys\ndef f():\n    for _ in range(50):\n        sys.stdout.write('x' * 100_000)\n    return 1"
        wrapper = self.start(script, function_tool("f"))
        result = wrapper.call("f")
        self.assertLess(len(texts(result)[1]), 1_100_000)
        self.assertIn("left out", texts(result)[2])

    def test_a_script_that_prints_without_end_is_ended_by_time(self):
        script = "def f():\n    while True:\n        print('x' * 1000)"
        result = self.start(script, function_tool("f"), WRAPPER_MAX_EXECUTION_TIME="2").call("f")
        self.assertIn("WRAPPER_MAX_EXECUTION_TIME", texts(result)[0])


class Streaming(WrapperCase):
    def lines(self, wrapper, name, count):
        params = {"name": name, "_meta": {"progressToken": "t"}}
        wrapper.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        return [wrapper.read()["params"] for _ in range(count)]

    def test_lines_come_while_the_script_runs_though_it_never_flushes(self):
        # The script goes on only when the test has seen its line.
        go = os.path.join(self.base, "go")
        script = f"import os, time\nprint('first')\nwhile not os.path.exists({go!r}): time.sleep(0.01)\nprint('second')"
        wrapper = self.start(script, script_tool("run"))
        self.assertEqual(self.lines(wrapper, "run", 1), [{"progressToken": "t", "progress": 1, "message": "first"}])
        open(go, "w").close()
        self.assertEqual(wrapper.read()["params"]["message"], "second")
        self.assertEqual(wrapper.answer_to(1)["result"]["structuredContent"]["stdout"], "first\nsecond\n")

    def test_an_unfinished_line_comes_after_a_while(self):
        go = os.path.join(self.base, "go")
        script = f"""
        import os, sys, time
        def f():
            sys.stdout.write("how many? ")
            while not os.path.exists({go!r}): time.sleep(0.01)
            print()
            print("three")
        """
        wrapper = self.start(script, function_tool("f"))
        self.assertEqual(self.lines(wrapper, "f", 1)[0]["message"], "how many? ")
        open(go, "w").close()
        self.assertEqual(wrapper.read()["params"]["message"], "three")
        self.assertIn("stdout:\nhow many? \nthree\n", texts(wrapper.answer_to(1)["result"]))

    def test_a_long_line_comes_in_parts(self):
        wrapper = self.start("def f(): print('abcdefgh')", function_tool("f"), WRAPPER_STREAM_BUFFER="3")
        self.assertEqual([each["message"] for each in self.lines(wrapper, "f", 3)], ["abc", "def", "gh"])

    def test_progress_always_grows_over_both_streams(self):
        script = "import sys\ndef f():\n    for i in range(20):\n        print(i, file=(sys.stdout, sys.stderr)[i % 2])"
        told = self.lines(self.start(script, function_tool("f")), "f", 20)
        self.assertEqual([each["progress"] for each in told], list(range(1, 21)))
        self.assertEqual(sorted(int(each["message"]) for each in told), list(range(20)))

    def test_line_ends_of_windows_and_characters_cut_in_two(self):
        script = """
        import sys, time
        def f():
            data = "é\\r\\nü".encode()
            for byte in data:
                sys.stdout.buffer.write(bytes([byte]))
        """
        self.assertEqual([each["message"] for each in self.lines(self.start(script, function_tool("f")), "f", 2)], ["é", "ü"])

    def test_without_a_token_nothing_is_told(self):
        wrapper = self.start("def f(): print('x')", function_tool("f"))
        wrapper.call("f")
        self.assertEqual(wrapper.read_kept(), [])
        answer = wrapper.request("tools/call", {"name": "f", "_meta": {"progressToken": []}})
        self.assertEqual(answer["error"]["code"], -32602)


WAITS = """
import os, time
def wait(file):
    print("in", flush=True)
    while not os.path.exists(file): time.sleep(0.01)
    return file
"""


class Concurrency(WrapperCase):
    def setUp(self):
        super().setUp()
        self.wrapper = self.start(WAITS, function_tool("wait", file={}), WRAPPER_MAX_CONCURRENT="2")

    def begin(self, *ids):
        for number in ids:
            params = {"name": "wait", "arguments": {"file": self.path(number)}, "_meta": {"progressToken": number}}
            self.wrapper.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def path(self, number):
        return os.path.join(self.base, f"go-{number}")

    def release(self, *ids):
        for number in ids:
            open(self.path(number), "w").close()

    def entered(self, count):
        return {self.wrapper.read()["params"]["progressToken"] for _ in range(count)}

    def counts(self):
        health = self.wrapper.request("HealthCheck", request_id="h")["result"]
        return health["running"], health["waiting"]

    def test_so_many_at_once_and_the_others_in_their_order(self):
        self.begin(1, 2, 3, 4)
        self.assertEqual(self.entered(2), {1, 2})
        self.assertEqual(self.counts(), (2, 2))
        self.release(2)
        self.assertEqual(self.wrapper.read()["id"], 2)
        self.assertEqual(self.entered(1), {3})
        self.release(1, 3, 4)
        self.assertEqual({self.wrapper.answer_to(number)["id"] for number in (1, 3, 4)}, {1, 3, 4})

    def test_one_that_waits_can_be_cancelled(self):
        self.begin(1, 2, 3, 4)
        self.assertEqual(self.entered(2), {1, 2})
        self.wrapper.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
        until(lambda: self.counts() == (2, 1))
        self.release(1, 2, 4)
        self.assertEqual(sorted(self.wrapper.answer_to(number)["id"] for number in (1, 2, 4)), [1, 2, 4])
        self.assertNotIn(3, {each["params"]["progressToken"] for each in self.wrapper.read_kept()})

    def test_other_requests_are_answered_meanwhile(self):
        self.begin(1, 2, 3)
        self.entered(2)
        self.assertEqual(self.wrapper.request("ping", request_id="p")["result"], {})
        self.assertEqual(len(self.wrapper.request("tools/list", request_id="l")["result"]["tools"]), 1)


if __name__ == "__main__":
    unittest.main()
