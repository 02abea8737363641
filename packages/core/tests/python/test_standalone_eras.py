import unittest

import python_half  # noqa: F401
from standalone_folder import WHOLE, WrapperCase, function_tool, wrapped_result

META = "io.modelcontextprotocol/"
IDENTITY = {"name": "sample", "version": "1.0.0"}


def modern(**params):
    client = {"name": "t", "version": "1"}
    meta = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}, f"{META}clientInfo": client}
    return {**params, "_meta": {**meta, **params.get("_meta", {})}}


class EraCase(WrapperCase):
    def setUp(self):
        super().setUp()
        tool = {
            **function_tool("add", wrapped_result(WHOLE), a=WHOLE),
            "title": "Adding",
            "annotations": {"readOnlyHint": True},
        }
        self.wrapper = self.start("def add(a):\n    print('line')\n    return a + 1", tool)

    def initialize(self, version):
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        return self.wrapper.request("initialize", params)["result"]


class Legacy(EraCase):
    def test_each_revision_is_agreed_on(self):
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
            self.assertEqual(self.initialize(version), {
                "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": IDENTITY, "instructions": "A sample.",
            })

    def test_an_unknown_revision_gets_the_newest(self):
        for version in ("1999-01-01", "2026-07-28", "x", ""):
            self.assertEqual(self.initialize(version)["protocolVersion"], "2025-11-25")

    def test_members_of_later_revisions_are_left_out(self):
        wanted = {
            "2024-11-05": set(),
            "2025-03-26": {"annotations"},
            "2025-06-18": {"annotations", "title", "outputSchema"},
            "2025-11-25": {"annotations", "title", "outputSchema"},
        }
        for version, more in wanted.items():
            self.initialize(version)
            result = self.wrapper.request("tools/list")["result"]
            self.assertEqual(set(result), {"tools"})
            self.assertEqual(set(result["tools"][0]), {"name", "description", "inputSchema"} | more, version)
            called = self.wrapper.call("add", {"a": 1}, _meta={"progressToken": "p"})
            self.assertEqual("structuredContent" in called, "outputSchema" in more, version)
            self.assertEqual(called["content"][0], {"type": "text", "text": "2"})
            (told,) = self.wrapper.read_kept()
            self.assertEqual("message" in told["params"], version != "2024-11-05")

    def test_ping(self):
        self.assertEqual(self.wrapper.request("ping")["result"], {})


class Modern(EraCase):
    def test_discover(self):
        self.assertEqual(self.wrapper.request("server/discover", modern())["result"], {
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "instructions": "A sample.",
            "ttlMs": 60000, "cacheScope": "private", "resultType": "complete", "_meta": {f"{META}serverInfo": IDENTITY},
        })

    def test_results_say_that_they_are_complete_and_how_long_they_hold(self):
        listed = self.wrapper.request("tools/list", modern())["result"]
        self.assertEqual((listed["resultType"], listed["ttlMs"], listed["cacheScope"]), ("complete", 60000, "private"))
        called = self.wrapper.request("tools/call", modern(name="add", arguments={"a": 1}))["result"]
        self.assertEqual((called["resultType"], called["structuredContent"]), ("complete", {"result": 2}))
        self.assertNotIn("ttlMs", called)
        refused = self.wrapper.request("tools/call", modern(name="add", arguments={"a": "x"}))["result"]
        self.assertEqual((refused["resultType"], refused["isError"]), ("complete", True))

    def test_progress(self):
        params = modern(name="add", arguments={"a": 1}, _meta={"progressToken": 7})
        self.wrapper.request("tools/call", params)
        self.assertEqual(self.wrapper.read_kept(), [{
            "jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": 7, "progress": 1, "message": "line"},
        }])

    def test_what_this_era_has_no_more(self):
        for method in ("ping", "initialize", "logging/setLevel"):
            self.assertEqual(self.wrapper.request(method, modern())["error"]["code"], -32601)

    def test_an_unknown_revision_is_told_which_there_is(self):
        params = modern(_meta={f"{META}protocolVersion": "2030-01-01"})
        error = self.wrapper.request("server/discover", params)["error"]
        self.assertEqual(error["code"], -32022)
        self.assertEqual(error["data"], {"supported": ["2026-07-28"], "requested": "2030-01-01"})

    def test_an_envelope_that_is_not_whole(self):
        for meta in (
            {f"{META}protocolVersion": "2026-07-28"},
            {f"{META}protocolVersion": 1, f"{META}clientCapabilities": {}},
            {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": []},
            {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}, f"{META}clientInfo": "x"},
        ):
            error = self.wrapper.request("tools/list", {"_meta": meta})["error"]
            self.assertEqual(error["code"], -32602)
            self.assertIn("envelope", error["data"])

    def test_a_handshake_is_one_whatever_it_carries(self):
        params = {"protocolVersion": "2025-11-25", "_meta": {f"{META}protocolVersion": "2026-07-28"}}
        self.assertEqual(self.wrapper.request("initialize", params)["result"]["protocolVersion"], "2025-11-25")

    def test_both_eras_on_one_connection(self):
        self.initialize("2025-06-18")
        self.assertIn("ttlMs", self.wrapper.request("tools/list", modern())["result"])
        self.assertNotIn("ttlMs", self.wrapper.request("tools/list")["result"])

    def test_listening_is_acknowledged_and_ended_since_nothing_changes(self):
        result = self.wrapper.request("subscriptions/listen", modern(notifications={"toolsListChanged": True}), 5)["result"]
        self.assertEqual(result["_meta"][f"{META}subscriptionId"], 5)
        self.assertEqual(self.wrapper.read_kept(), [{
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": {}, "_meta": {f"{META}subscriptionId": 5}},
        }])
        self.assertEqual(self.wrapper.request("subscriptions/listen", modern())["error"]["code"], -32602)


class Plain(EraCase):
    def test_list_tools_and_info(self):
        self.assertEqual([tool["name"] for tool in self.wrapper.request("ListTools")["result"]["tools"]], ["add"])
        info = self.wrapper.request("GetToolInfo", {"name": "add"})["result"]
        self.assertEqual((info["kind"], info["function"], info["line"]), ("function", "add", 1))
        for params in ({}, {"name": "none"}, {"name": 1}):
            self.assertEqual(self.wrapper.request("GetToolInfo", params)["error"]["code"], -32602)

    def test_call_tool_streams_lines_and_then_answers(self):
        result = self.wrapper.request("CallTool", {"name": "add", "arguments": {"a": "1"}}, "c")["result"]
        self.assertEqual((result["ok"], result["value"], result["stdout"]), (True, 2, "line\n"))
        self.assertEqual(self.wrapper.read_kept(), [
            {"jsonrpc": "2.0", "id": "c", "partial": True, "data": "line", "stream": "stdout"},
        ])
        self.wrapper.request("CallTool", {"name": "add", "arguments": {"a": 1}, "stream": False})
        self.assertEqual(self.wrapper.read_kept(), [])

    def test_wrong_arguments_are_an_error_with_every_issue(self):
        error = self.wrapper.request("CallTool", {"name": "add", "arguments": {"a": "x", "b": 1}})["error"]
        self.assertEqual(error["code"], -32602)
        self.assertEqual(len(error["data"]["issues"]), 2)

    def test_health_check(self):
        health = self.wrapper.request("HealthCheck")["result"]
        self.assertEqual((health["status"], health["tools"], health["running"], health["waiting"]), ("ok", 1, 0, 0))


if __name__ == "__main__":
    unittest.main()
