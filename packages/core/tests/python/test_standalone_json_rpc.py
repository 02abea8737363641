import json
import os
import subprocess
import sys
import unittest

import python_half
from standalone_folder import WrapperCase, function_tool

from standalone.json_rpc import RpcError, encode_message, is_valid_id, parse_line, read_message
from standalone.line_reader import read_lines

MANY = 100 * 1024 * 1024


def code_of(action, *given):
    try:
        action(*given)
    except RpcError as error:
        return error.code
    return None


class Lines(unittest.TestCase):
    def lines(self, *chunks, longest=10):
        waiting = [*chunks, b""]
        return list(read_lines(0, longest, lambda descriptor, size: waiting.pop(0)))

    def test_however_they_are_cut(self):
        self.assertEqual(self.lines(b"ab\nc", b"d\n", b"\ne"), [b"ab", b"cd", b"", b"e"])

    def test_none_stands_for_one_that_is_too_long(self):
        self.assertEqual(self.lines(b"0123456789\n01234567890\nok\n"), [b"0123456789", None, b"ok"])
        self.assertEqual(self.lines(b"01234", b"56789", b"0", b"1" * 50, b"\nok"), [None, b"ok"])
        self.assertEqual(self.lines(b"0" * 11), [None])

    def test_a_chunk_that_ends_a_line_and_begins_a_long_one(self):
        self.assertEqual(self.lines(b"a\n" + b"0" * 11, b"\nb\n"), [b"a", None, b"b"])


class Parsing(unittest.TestCase):
    def test_what_is_no_json(self):
        short = (b"{", b"", b"\xff\xfe", b"nothing", b"NaN", b"[Infinity]", b'"\x01"', b"{} {}")
        for line in (*short, b"9" * 5000, b"[" * 100_000):
            self.assertEqual(code_of(parse_line, line), -32700, line[:20])

    def test_deep_but_not_too_deep(self):
        deep = lambda depth: b"[" * depth + b"]" * depth  # noqa: E731
        self.assertIsNone(code_of(parse_line, deep(200)))
        self.assertEqual(code_of(parse_line, deep(202)), -32700)
        self.assertIsNone(code_of(parse_line, b"[" + b"[]," * 500 + b"{}]"))

    def test_what_is_no_message(self):
        good = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        self.assertIsNone(code_of(read_message, good))
        for change in (
            {"jsonrpc": "1.0"}, {"jsonrpc": 2.0}, {"method": 1}, {"method": None}, {"id": None}, {"id": True}, {"id": [1]},
            {"id": {}}, {"id": float("inf")}, {"params": "text"}, {"params": 1}, {"params": None},
        ):
            self.assertEqual(code_of(read_message, {**good, **change}), -32600, change)
        for value in (None, 1, "text", True):
            self.assertEqual(code_of(read_message, value), -32600)

    def test_answers_are_nobodys(self):
        self.assertIsNone(read_message({"jsonrpc": "2.0", "id": 1, "result": {}}))
        self.assertIsNone(read_message({"jsonrpc": "2.0", "id": None, "error": {}}))

    def test_ids(self):
        for value in (0, -1, 1.5, "", "é", 1 << 200):
            self.assertTrue(is_valid_id(value), value)

    def test_a_lone_surrogate_is_written_as_an_escape(self):
        self.assertEqual(json.loads(encode_message({"a": "\ud800é"})), {"a": "\ud800é"})
        self.assertEqual(encode_message({"a": "é"}), '{"a":"é"}'.encode())


class Talking(WrapperCase):
    def setUp(self):
        super().setUp()
        self.wrapper = self.start("def add(a, b=1): return a + b", function_tool("add", a={}, b={}))

    def error(self, line):
        self.wrapper.write(line + b"\n")
        answer = self.wrapper.read()
        return answer["error"]["code"], answer["id"]

    def test_codes(self):
        for line, wanted in (
            (b"{", (-32700, None)),
            (b"\xc3\x28", (-32700, None)),
            (b'{"jsonrpc":"2.0","id":5}', (-32600, 5)),
            (b'{"id":"x","method":"ping"}', (-32600, "x")),
            (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', (-32600, None)),
            (b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', (-32600, None)),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (-32600, None)),
            (b"3", (-32600, None)),
            (b'{"jsonrpc":"2.0","id":6,"method":"resources/list"}', (-32601, 6)),
            (b'{"jsonrpc":"2.0","id":7,"method":"server/discover"}', (-32601, 7)),
            (b'{"jsonrpc":"2.0","id":8,"method":"tools/call"}', (-32602, 8)),
            (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"none"}}', (-32602, 9)),
            (b'{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"add","arguments":[]}}', (-32602, 10)),
            (b'{"jsonrpc":"2.0","id":11,"method":"ping","params":[]}', (-32602, 11)),
            (b'{"jsonrpc":"2.0","id":12,"method":"initialize"}', (-32602, 12)),
            (b'{"jsonrpc":"2.0","id":13,"method":"tools/list","params":{"cursor":"x"}}', (-32602, 13)),
        ):
            self.assertEqual(self.error(line), wanted, line)

    def test_ids_come_back_as_they_were(self):
        for text in ("0", "-7", "1.5", '""', '"é\\u0000"', str(1 << 100), '"' + "x" * 1000 + '"'):
            self.wrapper.write(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}\n' % text.encode())
            self.assertEqual(self.wrapper.read(), {"jsonrpc": "2.0", "id": json.loads(text), "result": {}})

    def test_notifications_are_never_answered(self):
        for method in ("notifications/initialized", "ping", "tools/call", "none", "notifications/cancelled"):
            for params in ({}, [], {"requestId": {}}, {"requestId": "none"}):
                self.wrapper.send({"jsonrpc": "2.0", "method": method, "params": params})
        self.wrapper.write(b"\n  \n\r\n")
        self.assertEqual(self.wrapper.request("ping", request_id="after")["id"], "after")

    def test_a_line_of_100_mb_is_refused_and_not_kept(self):
        part = b"x" * (1 << 20)
        for _ in range(MANY // len(part)):
            self.wrapper.write(part)
        self.assertEqual(self.error(b""), (-32600, None))
        with open(f"/proc/{self.wrapper.process.pid}/status", encoding="ascii") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        self.assertLess(peak, 80 * 1024)
        self.assertEqual(self.wrapper.request("ping")["result"], {})

    def test_a_line_just_below_the_limit_is_a_message(self):
        text = "x" * (10 * 1024 * 1024 - 200)
        self.wrapper.send({"jsonrpc": "2.0", "id": 1, "method": "none", "params": {"text": text}})
        self.assertEqual(self.wrapper.read()["error"]["code"], -32601)

    def test_an_id_that_is_under_way_is_refused(self):
        self.write_folder("import time\ndef wait():\n    print('here')\n    time.sleep(600)", function_tool("wait"))
        wrapper = self.start_again()
        wrapper.send({"jsonrpc": "2.0", "id": 1, "method": "CallTool", "params": {"name": "wait"}})
        self.assertEqual(wrapper.read()["data"], "here")
        for same in (1, 1.0):
            wrapper.send({"jsonrpc": "2.0", "id": same, "method": "ping"})
            self.assertEqual(wrapper.read()["error"]["code"], -32600)
        self.assertEqual(wrapper.request("ping", request_id="1")["result"], {})

    def test_nothing_but_messages_on_standard_output(self):
        script = """
        import os, sys
        def noise():
            print("printed")
            sys.stdout.buffer.write(b"\\xff\\n")
            os.write(1, b"raw\\n")
            os.system("echo from a shell")
            return 1
        """
        self.write_folder(script, function_tool("noise"))
        result = self.start_again().call("noise")  # read() parses every line
        self.assertEqual(result["structuredContent"], {"result": 1})
        self.assertEqual(result["content"][1]["text"], "stdout:\nprinted\n\ufffd\nraw\nfrom a shell\n")


class StandardOutput(unittest.TestCase):
    def test_what_anybody_else_writes_to_it_goes_to_standard_error(self):
        code = """
import os
from standalone.client_channel import take_standard_output
print("before", end=" ")
channel = take_standard_output()
print("printed")
os.write(1, b"raw ")
os.system("echo from a shell")
os.write(channel, b"message")
"""
        environment = {**os.environ, "PYTHONPATH": str(python_half.FOLDER)}
        ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.stdout, "before message")
        self.assertEqual(sorted(ended.stderr.split()), ["a", "from", "printed", "raw", "shell"])


class Batches(WrapperCase):
    def setUp(self):
        super().setUp()
        self.wrapper = self.start("def add(a, b=1): return a + b", function_tool("add", a={}, b={}))

    def agree(self, version):
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.assertEqual(self.wrapper.request("initialize", params)["result"]["protocolVersion"], version)

    def test_refused_where_the_revision_has_none(self):
        for version in (None, "2024-11-05", "2025-06-18", "2025-11-25"):
            if version:
                self.agree(version)
            self.wrapper.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
            answer = self.wrapper.read()
            self.assertEqual((answer["error"]["code"], answer["id"]), (-32600, None))

    def test_answered_together_in_2025_03_26(self):
        self.agree("2025-03-26")
        self.wrapper.send([
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}},
            3,
            {"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
            {"jsonrpc": "2.0", "id": 5, "method": "none"},
        ])
        answers = {answer["id"]: answer for answer in self.wrapper.read()}
        self.assertEqual(answers[1]["result"], {})
        self.assertEqual(answers["two"]["result"]["content"][0]["text"], "2")
        self.assertEqual([answers[each]["error"]["code"] for each in (None, 4, 5)], [-32600, -32600, -32601])
        self.assertEqual(len(answers), 5)

    def test_nothing_is_said_to_notifications_alone(self):
        self.agree("2025-03-26")
        self.wrapper.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 3)
        self.assertEqual(self.wrapper.request("ping", request_id=9)["id"], 9)

    def test_an_empty_or_endless_one_is_no_request(self):
        self.agree("2025-03-26")
        for batch in ([], [1] * 1001):
            self.wrapper.send(batch)
            self.assertEqual(self.wrapper.read()["error"]["code"], -32600)

    def test_what_is_cancelled_is_left_out(self):
        self.write_folder("import time\ndef wait():\n    print('here')\n    time.sleep(600)", function_tool("wait"))
        self.wrapper = self.start_again()
        self.agree("2025-03-26")
        self.wrapper.send([
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "id": 2, "method": "CallTool", "params": {"name": "wait"}},
        ])
        self.assertEqual(self.wrapper.read()["data"], "here")
        self.wrapper.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
        self.assertEqual([answer["id"] for answer in self.wrapper.read()], [1])


class Files(WrapperCase):
    def test_a_file_of_requests_is_answered_to_its_end(self):
        self.write_folder("def add(a): return a + 1", function_tool("add", a={}))
        wrapper = self.start_again()
        self.assertEqual(wrapper.close(), 0)
        path = os.path.join(self.base, "requests")
        with open(path, "w", encoding="utf-8") as file:
            for number in range(3):
                params = {"name": "add", "arguments": {"a": number}}
                file.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n")
        code = "import sys; from standalone.main import main; sys.exit(main([], sys.argv[1]))"
        with open(path, "rb") as source:
            environment = {**os.environ, "PYTHONPATH": str(python_half.FOLDER)}
            command = [sys.executable, "-c", code, self.base]
            ended = subprocess.run(command, stdin=source, env=environment, capture_output=True, timeout=60)
        answers = sorted(map(json.loads, ended.stdout.splitlines()), key=lambda answer: answer["id"])
        self.assertEqual([answer["result"]["content"][0]["text"] for answer in answers], ["1", "2", "3"])


if __name__ == "__main__":
    unittest.main()
