"""Thousands of messages that no client should send. Whatever comes, the wrapper lives, and says nothing but messages."""

import json
import random
import select
import time
import unittest

import python_half  # noqa: F401
from standalone_folder import WHOLE, WrapperCase, function_tool, script_tool

SEED = 20261115
MESSAGES = 4000
SECONDS = 60
CODES = {-32700, -32600, -32601, -32602, -32603, -32022}
META = "io.modelcontextprotocol/"
NAMES = (
    "initialize", "ping", "tools/list", "tools/call", "server/discover", "subscriptions/listen", "ListTools", "CallTool",
    "GetToolInfo", "HealthCheck", "notifications/cancelled", "notifications/initialized", "notifications/progress", "none", "",
    "__class__", "resources/read", "tools/call\u0000",
)
WORDS = ("", "add", "run", "none", "2025-03-26", "2026-07-28", "é", "\ud800", "\u0000", "x" * 3000, "__init__", "../..")
KEYS = (
    "name", "arguments", "a", "stdin", "_meta", "progressToken", "protocolVersion", "requestId", "cursor", "notifications",
    f"{META}protocolVersion", f"{META}clientCapabilities", f"{META}clientInfo", "stream", "", "é",
)


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, depth=0):
        choose = self.random
        kind = choose.randrange(12 if depth < 4 else 8)
        if kind < 8:
            return (
                None, True, False, choose.randrange(-5, 100), choose.uniform(-1, 1) * 10 ** choose.randrange(300), 10**400,
                choose.choice(WORDS), choose.choice(NAMES),
            )[kind]
        if kind < 10:
            return [self.value(depth + 1) for _ in range(choose.randrange(4))]
        return {choose.choice(KEYS): self.value(depth + 1) for _ in range(choose.randrange(6))}

    def message(self):
        choose = self.random
        found = {"jsonrpc": "2.0", "id": choose.randrange(10**6), "method": choose.choice(NAMES), "params": self.params()}
        for name in list(found):
            fate = choose.randrange(20)
            if fate == 0:
                del found[name]
            elif fate == 1:
                found[name] = self.value()
        return found

    def params(self):
        """Often almost right, so that what lies deeper is met as well."""
        choose = self.random
        found = self.value(2)
        if choose.randrange(3):
            found = {**(found if isinstance(found, dict) else {}), "name": choose.choice(("add", "run", "none", 3))}
            found["arguments"] = choose.choice(({"a": "x"}, {"b": 1}, [], None, {"a": []}, {"a": {}, "z": self.value()}))
        if not choose.randrange(4):
            meta = {f"{META}protocolVersion": choose.choice(("2026-07-28", "2030-01-01", 3)), f"{META}clientCapabilities": {}}
            found = {**(found if isinstance(found, dict) else {}), "_meta": meta}
        return found

    def line(self):
        choose = self.random
        kind = choose.randrange(10)
        if kind == 0:
            return bytes(choose.randrange(256) for _ in range(choose.randrange(200))).replace(b"\n", b" ")
        if kind == 1:
            depth = choose.choice((50, 300, 5000))
            return choose.choice((b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth))
        if kind == 2:
            return json.dumps([self.message() for _ in range(choose.randrange(5))]).encode()
        data = json.dumps(self.message()).encode()
        if kind == 3:  # cut, doubled, or with a byte changed
            place = choose.randrange(len(data))
            changed = data[:place] + bytes([choose.randrange(11, 256)]) + data[place + 1:]
            return choose.choice((data[:place], data + data, changed))
        if kind == 4:
            number = choose.choice((b"1e999", b"-0.0", b"9" * 5000, b"1" + b"0" * 4000))
            return data.replace(b'"id": ', b'"id": %s, "x": ' % number)
        return data


class Fuzz(WrapperCase):
    def read_some(self, wrapper, wait=0):
        """What is there by now, so that neither side waits for the other."""
        found = []
        while b"\n" in wrapper._pending or select.select([wrapper.process.stdout], [], [], wait)[0]:
            found.append(wrapper.read())
        return found

    def check(self, message):
        for each in message if isinstance(message, list) else [message]:
            self.assertEqual(each["jsonrpc"], "2.0")
            if "error" in each:
                self.assertIn(each["error"]["code"], CODES)
                self.assertNotEqual(each["error"]["code"], -32603, each)
                self.assertIsInstance(each["error"]["message"], str)
            else:
                self.assertTrue("result" in each or "method" in each, each)

    def fuzz(self, seed, version=None):
        # Arguments never fit, so that nothing is started: that is another test's matter.
        tool = function_tool("add", a=WHOLE)
        tool["inputSchema"]["required"] = ["a", "b"]
        script = script_tool("run", a=WHOLE)
        script["inputSchema"]["required"] = ["none"]
        wrapper = self.start("def add(a): return a", tool, script)
        if version:
            params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            wrapper.request("initialize", params)
        generator, begun, sent = Generator(seed), time.monotonic(), 0
        while sent < MESSAGES and time.monotonic() - begun < SECONDS:
            wrapper.write(generator.line() + b"\n")
            sent += 1
            for message in self.read_some(wrapper):
                self.check(message)
        answer = wrapper.request("ListTools", request_id="alive")
        for message in wrapper.read_kept():
            self.check(message)
        self.assertEqual(len(answer["result"]["tools"]), 2)
        self.assertGreater(sent, 500)
        self.assertEqual(wrapper.close(), 0)
        self.assertNotIn("WRAPPER-ERROR", wrapper.logged())

    def test_without_a_handshake(self):
        self.fuzz(SEED)

    def test_where_there_are_batches(self):
        self.fuzz(SEED + 1, "2025-03-26")

    def test_calls_with_any_arguments(self):
        tool = {**function_tool("any"), "inputSchema": {"type": "object", "additionalProperties": True}}
        wrapper = self.start("def any(**values): return values", tool)
        generator = Generator(SEED + 2)
        for number in range(15):
            arguments = {generator.random.choice(KEYS): generator.value() for _ in range(3)}
            answer = wrapper.request("tools/call", {"name": "any", "arguments": arguments}, number)
            self.assertIn("content", answer["result"])
        self.assertNotIn("WRAPPER-ERROR", wrapper.logged())


if __name__ == "__main__":
    unittest.main()
