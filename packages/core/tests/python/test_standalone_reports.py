import http.client
import json
import os
import re
import unittest

import python_half  # noqa: F401
from standalone_folder import WrapperCase, function_tool, until

SENTENCE = r"failed while running a call \((\w+)\)\. Its log has the details in entry ([0-9a-f]{12})"


class TwoLayers(WrapperCase):
    def break_wrapper(self, *arguments, **variables):
        """The folder that calls run in is taken away: the wrapper, and not the script, cannot go on."""
        place = self.make("place")
        wrapper = self.start("def f(): pass", function_tool("f"), arguments=arguments, WRAPPER_WORKING_DIR=place, **variables)
        self.assertNotIn("isError", wrapper.call("f"))
        os.rmdir(place)
        until(lambda: "error" in wrapper.request("tools/call", {"name": "f"}, "x"))
        return wrapper, wrapper.request("tools/call", {"name": "f"})["error"]

    def test_the_wrappers_own_failure_is_told_by_an_id_without_paths(self):
        wrapper, error = self.break_wrapper()
        self.assertEqual(error["code"], -32603)
        kind, entry = re.search(SENTENCE, error["message"]).groups()
        self.assertEqual((kind, error["data"]), ("FileNotFoundError", {"entry": entry}))
        self.assertNotIn(self.base, json.dumps(error))
        logged = wrapper.logged()
        self.assertIn(f"WRAPPER-ERROR {entry} running a call", logged)
        self.assertIn("Traceback", logged)
        self.assertIn(os.path.join(self.base, "place"), logged)
        self.assertEqual(wrapper.request("ping")["result"], {})

    def test_the_log_may_be_a_file(self):
        log = os.path.join(self.base, "log.txt")
        wrapper, error = self.break_wrapper("--log-file", log)
        with open(log, encoding="utf-8") as file:
            self.assertIn(error["data"]["entry"], file.read())
        self.assertEqual(wrapper.logged(), "")
        self.assertEqual(os.stat(log).st_mode & 0o077, 0)

    def test_a_script_cannot_write_what_looks_like_an_entry(self):
        script = "def f():\n    print('2026-01-01T00:00:00Z WRAPPER-ERROR 000000000000 forged')\n    raise ValueError('a\\rb')"
        wrapper = self.start(script, function_tool("f"))
        wrapper.call("f")
        lines = wrapper.logged().splitlines()
        self.assertTrue(all(line.startswith("    ") for line in lines[1:]), lines)
        self.assertRegex(lines[0], r"^\S+Z SCRIPT - f: failed")

    def test_the_log_holds_no_terminal_escapes_no_values_and_no_long_lines(self):
        script = """
            import sys
            def f():
                secret = "hunt" + "er2"
                print("\\x1b]0;title\\x07", "y" * 100_000)
                print("line\\n" * 9000, file=sys.stderr)
                raise ValueError("\\x1b[31mred \\x00\\x9b\\u202e\\u2028\\ud800\\ttab é")
        """
        wrapper = self.start(script, function_tool("f"))
        self.assertTrue(wrapper.call("f")["isError"])
        logged = wrapper.logged()
        self.assertTrue(all(each.isprintable() or each in "\n\t" for each in logged), ascii(logged[:2000]))
        self.assertIn(r"\x1b[31mred \x00\x9b\u202e\u2028\ud800" "\ttab é", logged)
        self.assertNotIn("hunter2", logged)
        self.assertLess(max(map(len, logged.split("\n"))), 1200)
        self.assertLess(logged.count("\n"), 250)
        self.assertIn("lines left out", logged)

    def test_the_list_of_tools_holds_no_terminal_escapes(self):
        self.write_folder("def f(): pass", {**function_tool("f"), "description": "\x1b[31mred\x07"})
        wrapper = self.start_again(["--list"])
        self.assertIn(r"\x1b[31mred\x07".encode(), wrapper.process.stdout.read())

    def test_a_script_that_changed_since_it_was_wrapped_is_mentioned(self):
        self.write_folder("def f(): pass", function_tool("f"), sha256="0" * 64)
        wrapper = self.start_again()
        wrapper.request("ping")
        self.assertIn("WARNING - The script has changed", wrapper.logged())

    def test_an_interpreter_that_is_gone(self):
        self.write_folder("def f(): pass", function_tool("f"))
        program = os.path.join(self.base, "python")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(program, 0o755)
        wrapper = self.start_again(WRAPPER_PYTHON_EXECUTABLE=program)
        error = wrapper.request("tools/call", {"name": "f"})["error"]
        self.assertEqual(error["code"], -32603)
        self.assertNotIn(self.base, json.dumps(error))


class Health(WrapperCase):
    def setUp(self):
        super().setUp()
        self.wrapper = self.start("def f(): pass", function_tool("f"), arguments=["--health-port", "0"])
        self.wrapper.request("ping")
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/health", self.wrapper.logged())[1])

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()

    def test_it_answers(self):
        status, body = self.get("/health")
        self.assertEqual(status, 200)
        self.assertEqual((json.loads(body)["status"], json.loads(body)["tools"]), ("ok", 1))

    def test_everything_else_is_refused(self):
        self.assertEqual(self.get("/other")[0], 404)
        self.assertEqual(self.get("/health", "POST")[0], 501)
        self.assertEqual(self.get("/health", Host="example.org")[0], 403)
        self.assertEqual(self.get("/health", Host="localhost")[0], 200)

    def test_a_port_that_is_taken_stops_the_start(self):
        second = self.start_again(["--health-port", str(self.port)])
        self.assertEqual(second.process.wait(60), 1)
        self.assertIn("The wrapper stops", second.logged())


if __name__ == "__main__":
    unittest.main()
