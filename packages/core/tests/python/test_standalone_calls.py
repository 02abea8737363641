import json
import os
import unittest

import python_half
from standalone_folder import NOTHING, TEXT, WHOLE, WrapperCase, function_tool, script_tool, wrapped_result

from standalone.command_words import command_words

WORDS = python_half.FOLDER.parents[2] / "tests" / "fixtures" / "command-words.json"


def texts(result):
    return [block["text"] for block in result["content"] if block["type"] == "text"]


class Words(unittest.TestCase):
    def test_the_table_that_holds_for_both_halves(self):
        for case in json.loads(WORDS.read_text("utf-8")):
            tool = {name: case[name] for name in ("command", "argv", "parser")}
            words = case["words"] * case.get("wordsTimes", 1)
            self.assertEqual(command_words(tool, case["arguments"]), words, case["about"])

    def test_a_number_of_times_has_an_end(self):
        tool = {"command": [], "argv": [{"parameter": "v", "flag": "-v", "takes": "count"}], "parser": "argparse"}
        for value, wanted in ((1e400, 1000), (10**12, 1000), (-1, 0), (2.0, 2), ("x", 0)):
            self.assertEqual(len(command_words(tool, {"v": value})), wanted)


class Patterns(WrapperCase):
    """A pattern that takes forever takes the time of its call, never the wrapper's."""

    def start_with(self, kind, script="", **variables):
        endless = {"type": "string", "pattern": "^(a+)+$"}
        output = wrapped_result(endless)
        tool = function_tool("f", output, a=endless) if kind == "function" else script_tool("f", a=endless)
        return self.start(script or "def f(a='aa'): return a", tool, **variables)

    def test_arguments(self):
        for kind in ("function", "script"):
            wrapper = self.start_with(kind, WRAPPER_MAX_EXECUTION_TIME="2")
            (text,) = texts(wrapper.call("f", {"a": "b"}))
            self.assertIn("a: expected a text that matches", text)
            wrapper.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                          "params": {"name": "f", "arguments": {"a": "a" * 60 + "!"}}})
            self.assertEqual(wrapper.request("ping", request_id=8)["result"], {})
            (text,) = texts(wrapper.answer_to(7)["result"])
            self.assertIn("ended after 2 seconds", text)

    def test_results(self):
        wrapper = self.start_with("function", "def f(a='x'): return a + '!' if len(a) > 20 else 'aa'",
                                  WRAPPER_MAX_EXECUTION_TIME="2")
        self.assertEqual(wrapper.call("f")["structuredContent"], {"result": "aa"})
        wrapper.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "f", "arguments": {"a": "a" * 60}}})
        self.assertEqual(wrapper.request("ping", request_id=8)["result"], {})
        self.assertIn("ended after 2 seconds", texts(wrapper.answer_to(7)["result"])[0])

    def test_the_script_is_not_loaded_for_what_does_not_fit(self):
        wrapper = self.start_with("function", "open('loaded', 'w').close()\ndef f(a): pass")
        self.assertTrue(wrapper.call("f", {"a": "b"})["isError"])
        self.assertFalse(os.path.exists(os.path.join(self.base, "loaded")))


class Functions(WrapperCase):
    def test_value_and_prints_are_kept_apart(self):
        script = """
        import sys
        def report(n: int) -> dict:
            print("working")
            print("careful", file=sys.stderr)
            return {"n": n, "list": [1.5, None, "é"]}
        """
        output = {"type": "object", "properties": {}, "additionalProperties": True}
        result = self.start(script, function_tool("report", output, False, n=WHOLE)).call("report", {"n": "3"})
        self.assertEqual(result["structuredContent"], {"n": 3, "list": [1.5, None, "é"]})
        self.assertEqual(texts(result), ['{"n": 3, "list": [1.5, null, "é"]}', "stdout:\nworking\n", "stderr:\ncareful\n"])
        self.assertNotIn("isError", result)

    def test_a_failure_is_told_in_full(self):
        script = "def inner(x):\n    y = x * 2\n    raise ValueError('bad ' + 'luck')\ndef outer(x):\n    return inner(x)"
        wrapper = self.start(script, function_tool("outer", x=WHOLE))
        (text,) = texts(result := wrapper.call("outer", {"x": 4}))
        self.assertTrue(result["isError"])
        self.assertTrue(text.startswith("ValueError: bad luck\nin line 3: raise ValueError('bad ' + 'luck')\n"))
        self.assertNotIn("y = 8", text)  # values may be secrets
        self.assertIn("Traceback (most recent call last):", text)
        self.assertIn("line 5, in outer", text)
        self.assertNotIn("standalone", text)  # none of the wrapper's own frames
        self.assertNotIn("<string>", text)
        self.assertIn("ValueError: bad luck", wrapper.logged())

    def test_a_script_that_does_not_parse_or_load(self):
        wrapper = self.start("def f():\n    return (", function_tool("f"))
        (text,) = texts(wrapper.call("f"))
        self.assertTrue(text.startswith("SyntaxError"))
        self.assertIn("in line 2", text)
        wrapper = self.start("import no_such_module_here\ndef f(): pass", function_tool("f"))
        self.assertIn("no module 'no_such_module_here': install it there", texts(wrapper.call("f"))[0])

    def test_a_function_that_is_not_there(self):
        result = self.start("def add(): pass", function_tool("ad")).call("ad")
        self.assertTrue(result["isError"])
        self.assertIn('do you mean "add"', texts(result)[0])

    def test_wrong_arguments_never_reach_the_script(self):
        mark = os.path.join(self.base, "loaded")
        wrapper = self.start(f"open({mark!r}, 'w')\ndef f(a): pass", function_tool("f", a=WHOLE))
        result = wrapper.call("f", {"a": "x", "c": 1})
        self.assertTrue(result["isError"])
        self.assertIn("a: expected a whole number", texts(result)[0])
        self.assertIn("c: is not known", texts(result)[0])
        self.assertFalse(os.path.exists(mark))

    def test_ways_to_leave(self):
        script = """
        import os, sys, signal
        def by_exit(): sys.exit(3)
        def by_force(): os._exit(4)
        def by_signal(): os.kill(os.getpid(), signal.SIGSEGV)
        """
        wrapper = self.start(script, *map(function_tool, ("by_exit", "by_force", "by_signal")))
        for name, words in (("by_exit", "exit status 3"), ("by_force", "exit status 4"), ("by_signal", "SIGSEGV")):
            result = wrapper.call(name)
            self.assertTrue(result["isError"])
            self.assertIn(words, texts(result)[0])

    def test_the_module_is_what_pickling_and_dataclasses_need(self):
        script = """
        import pickle, sys
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: int
        def point() -> str:
            assert __name__ == "script" and sys.modules["script"].Point is Point
            return repr(pickle.loads(pickle.dumps(Point(1))))
        """
        self.assertEqual(texts(self.start(script, function_tool("point")).call("point")), ["Point(x=1)"])

    def test_a_script_called_as_a_module_that_others_need_does_not_replace_it(self):
        script = "import sys, json as real\ndef f(): return __name__, sys.modules['json'].dumps([1]), real.dumps([2])"
        self.write_folder(script, function_tool("f"), script="json.py")
        os.rename(os.path.join(self.base, "script.py"), os.path.join(self.base, "json.py"))
        self.assertEqual(texts(self.start_again().call("f")), ['["json_script", "[1]", "[2]"]'])

    def test_sibling_modules_and_the_folder_it_runs_in(self):
        with open(os.path.join(self.base, "beside.py"), "w", encoding="utf-8") as file:
            file.write("value = 42")
        script = "import os\ndef f():\n    import beside\n    return [beside.value, os.getcwd()]"
        self.assertEqual(json.loads(texts(self.start(script, function_tool("f")).call("f"))[0]), [42, self.base])
        other = self.make("other")
        wrapper = self.start_again(WRAPPER_WORKING_DIR="other")
        self.assertEqual(json.loads(texts(wrapper.call("f"))[0]), [42, other])

    def test_files_named_like_the_wrappers_own_needs_stay_away_from_it(self):
        for name in ("json", "re", "importlib", "standalone", "wrapper", "resource"):
            with open(os.path.join(self.base, f"{name}.py"), "w", encoding="utf-8") as file:
                file.write("raise RuntimeError('shadowed')")
        self.assertEqual(texts(self.start("def f(): return 1", function_tool("f")).call("f")), ["1"])

    def test_async_generators_threads_and_exit_handlers(self):
        script = """
        import asyncio, atexit, threading, time
        async def waits(): await asyncio.sleep(0); return "waited"
        def many():
            yield from range(3)
        def thread():
            threading.Thread(target=lambda: time.sleep(0.3) or print("from a thread")).start()
            atexit.register(print, "at the end")
        """
        wrapper = self.start(script, *map(function_tool, ("waits", "many", "thread")))
        self.assertEqual(texts(wrapper.call("waits")), ["waited"])
        self.assertEqual(texts(wrapper.call("many")), ["[0, 1, 2]"])
        self.assertEqual(texts(wrapper.call("thread")), ["stdout:\nfrom a thread\nat the end\n"])

    def test_no_value_and_no_prints(self):
        result = self.start("def f(): pass", function_tool("f")).call("f")
        self.assertEqual((texts(result), result["structuredContent"]), (["None"], {"result": None}))

    def test_bytes_and_pictures(self):
        script = "def png(): return b'\\x89PNG\\r\\n\\x1a\\n1'\ndef raw(): return b'\\x00\\x01'"
        wrapper = self.start(script, function_tool("png"), function_tool("raw"))
        self.assertEqual(wrapper.call("png")["content"], [
            {"type": "image", "data": "iVBORw0KGgox", "mimeType": "image/png"},
        ])
        (block,) = wrapper.call("raw")["content"]
        self.assertEqual((block["type"], block["resource"]["blob"]), ("resource", "AAE="))

    def test_a_result_that_breaks_its_promise_is_an_error_that_shows_it(self):
        wrapper = self.start("def f() -> int: return 'text'\ndef g() -> int: return object()", *(
            function_tool(name, wrapped_result(WHOLE)) for name in "fg"
        ))
        for name, shown in (("f", "text"), ("g", "<object object")):
            result = wrapper.call(name)
            self.assertTrue(result["isError"])
            self.assertNotIn("structuredContent", result)
            self.assertIn("something else than its annotation promises", texts(result)[0])
            self.assertIn(shown, texts(result)[1])

    def test_nothing_leaks_from_call_to_call(self):
        script = "seen = []\ndef f(a):\n    seen.append(a)\n    return seen"
        wrapper = self.start(script, function_tool("f", a=WHOLE))
        self.assertEqual([texts(wrapper.call("f", {"a": each}))[0] for each in (1, 2)], ["[1]", "[2]"])


class Scripts(WrapperCase):
    def test_an_entry_is_called_once_the_script_is_loaded(self):
        script = """
        import sys
        def main():
            print(__name__, sys.argv[1:])
            return 3
        """
        rules = [{"parameter": "n", "flag": "--n", "takes": "one"}]
        wrapper = self.start(script, script_tool("run", rules, n=WHOLE) | {"entry": "main"})
        result = wrapper.call("run", {"n": 3})
        self.assertIn("script ['--n=3']", "".join(texts(result)))
        self.assertIn("exit status 3", "".join(texts(result)))

    def test_the_encoding_in_the_environment_is_one_and_everything_can_be_printed(self):
        script = """
        import codecs, os
        print(codecs.lookup(os.environ["PYTHONIOENCODING"]).name, "\\ud800")
        """
        result = self.start(script, script_tool("run")).call("run", {})
        self.assertIn("utf-8 \\ud800", "".join(texts(result)))

    def test_words_stdin_and_printed_json(self):
        script = """
        import json, sys
        if __name__ == "__main__":
            print(json.dumps({"argv": sys.argv[1:], "stdin": sys.stdin.read(), "file": __file__}))
        """
        rules = [{"parameter": "n", "flag": "--n", "takes": "one"}, {"parameter": "f", "flag": None, "takes": "many"}]
        wrapper = self.start(script, script_tool("run", rules, n=WHOLE, f={"type": "array"}))
        result = wrapper.call("run", {"n": 3, "f": ["-x", "a b"], "stdin": "é\n"})
        path = os.path.join(self.base, "script.py")
        self.assertEqual(
            result["structuredContent"]["json"], {"argv": ["--n=3", "--", "-x", "a b"], "stdin": "é\n", "file": path}
        )
        self.assertEqual((result["structuredContent"]["exitCode"], result.get("isError")), (0, None))
        self.assertEqual(wrapper.call("run")["structuredContent"]["json"]["stdin"], "")

    def test_an_exit_status_is_an_error_with_all_that_was_printed(self):
        script = "import sys\nprint('out')\nsys.exit('no such thing')"
        result = self.start(script, script_tool("run")).call("run")
        self.assertTrue(result["isError"])
        self.assertEqual(texts(result), ["The script ended with exit status 1.", "out\n", "stderr:\nno such thing\n"])
        self.assertEqual(result["structuredContent"], {"exitCode": 1, "stdout": "out\n", "stderr": "no such thing\n"})

    def test_a_failure_names_the_line_and_prints_its_traceback_as_python_does(self):
        result = self.start("x = 1\nx / 0", script_tool("run")).call("run")
        self.assertIn("ZeroDivisionError: division by zero\nin line 2: x / 0\n", texts(result)[0])
        self.assertTrue(result["structuredContent"]["stderr"].startswith("Traceback (most recent call last):\n  File "))
        self.assertNotIn("standalone", result["structuredContent"]["stderr"])

    def test_a_way_out_that_passes_the_wrapper_by_has_its_status(self):
        result = self.start("import os\nprint('x', flush=True)\nos._exit(0)", script_tool("run")).call("run")
        self.assertEqual(result["structuredContent"], {"exitCode": 0, "stdout": "x\n", "stderr": ""})
        result = self.start("import os\nos.execvp('sh', ['sh', '-c', 'echo hi; exit 5'])", script_tool("run")).call("run")
        self.assertEqual((result["structuredContent"]["stdout"], result["structuredContent"]["exitCode"]), ("hi\n", 5))

    def test_large_standard_input(self):
        script = "import sys\nprint(len(sys.stdin.buffer.read()))"
        result = self.start(script, script_tool("run")).call("run", {"stdin": "x" * 3_000_000})
        self.assertEqual(result["structuredContent"]["stdout"], "3000000\n")

    def test_multiprocessing_finds_the_script(self):
        script = """
        import multiprocessing
        def double(x): return 2 * x
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                print(pool.map(double, [1, 2, 3]))
        """
        result = self.start(script, script_tool("run")).call("run")
        self.assertEqual(result["structuredContent"]["stdout"], "[2, 4, 6]\n", result)


class Wide(WrapperCase):
    def test_what_is_too_large_for_one_message_is_cut_and_said(self):
        script = "import sys\nsys.stdout.write('\\x01' * 3_000_000)\nsys.stderr.write('\\x01' * 3_000_000)"
        wrapper = self.start(script, script_tool("run"))
        result = wrapper.call("run")
        self.assertLess(len(json.dumps(result)), 10 * 1024 * 1024)
        self.assertIn("left out", " ".join(texts(result))[-300:])
        plain = wrapper.request("CallTool", {"name": "run", "stream": False})
        self.assertLess(len(json.dumps(plain)), 10 * 1024 * 1024)

    def test_hidden_tools_cannot_be_called(self):
        wrapper = self.start("def f(): pass", {**function_tool("f", NOTHING), "hidden": True}, function_tool("g", a=TEXT))
        answer = wrapper.request("tools/call", {"name": "f"})
        self.assertEqual(answer["error"]["code"], -32602)


if __name__ == "__main__":
    unittest.main()
