import os
import subprocess
import sys

import python_half
from standalone_folder import NOTHING, WrapperCase, function_tool, script_tool

from standalone.settings import SETTINGS, SettingFault, read_settings


class Settings(WrapperCase):
    def fault(self, **variables):
        with self.assertRaises(SettingFault) as raised:
            read_settings(variables, self.base)
        return str(raised.exception)

    def test_defaults_are_those_of_the_seed(self):
        settings = read_settings({}, self.base)
        self.assertEqual(settings.max_execution_time, 300)
        self.assertEqual((settings.max_memory_mb, settings.max_output_lines, settings.max_concurrent), (512, 10000, 8))
        self.assertEqual((settings.stream_buffer, settings.stream_flush), (1024, 0.1))
        self.assertEqual((settings.allow_network, settings.allow_file_write), (True, True))
        self.assertEqual((settings.python_executable, settings.working_dir), (sys.executable, self.base))
        self.assertIsNone(settings.log_file)

    def test_an_empty_variable_is_as_good_as_none(self):
        self.assertEqual(read_settings({name: "" for name, *_ in SETTINGS}, self.base).max_concurrent, 8)

    def test_what_is_wrong_is_said_with_name_value_and_what_is_allowed(self):
        cases = {
            "WRAPPER_MAX_EXECUTION_TIME": ("soon", "0", "-1", "nan", "inf"),
            "WRAPPER_MAX_MEMORY_MB": ("1.5", "1"),
            "WRAPPER_MAX_CONCURRENT": ("0", "1000", "many"),
            "WRAPPER_ALLOW_NETWORK": ("perhaps",),
            "WRAPPER_PYTHON_EXECUTABLE": ("no-such-python", "./no-such-python"),
            "WRAPPER_WORKING_DIR": ("no-such-folder",),
            "WRAPPER_LOG_FILE": ("no-such-folder/log", "."),
        }
        for name, values in cases.items():
            for value in values:
                words = self.fault(**{name: value})
                self.assertIn(name, words)
                self.assertIn(repr(value), words)
                self.assertIn("allowed is", words)

    def test_all_faults_are_said_at_once(self):
        words = self.fault(WRAPPER_MAX_MEMORY_MB="x", WRAPPER_MAX_CONCURRENT="x")
        self.assertEqual(len(words.splitlines()), 2)

    def test_paths_are_meant_from_the_folder(self):
        self.make("inner")
        settings = read_settings({"WRAPPER_WORKING_DIR": "inner", "WRAPPER_LOG_FILE": "inner/log"}, self.base)
        self.assertEqual(settings.working_dir, os.path.join(self.base, "inner"))
        self.assertEqual(settings.log_file, os.path.join(self.base, "inner/log"))

    def test_switches(self):
        for text, wanted in (("false", False), ("0", False), ("No", False), ("TRUE", True), ("1", True)):
            self.assertIs(read_settings({"WRAPPER_ALLOW_NETWORK": text}, self.base).allow_network, wanted)


class StartCase(WrapperCase):
    def run_wrapper(self, *arguments, **variables):
        code = "import sys; from standalone.main import main; sys.exit(main(sys.argv[2:], sys.argv[1]))"
        environment = {**os.environ, "PYTHONPATH": str(python_half.FOLDER), **variables}
        command = [sys.executable, "-c", code, self.base, *arguments]
        return subprocess.run(command, input="", env=environment, capture_output=True, text=True, timeout=60)


class CommandLine(StartCase):
    def test_the_tools_are_listed_and_hidden_ones_are_not(self):
        hidden = {**function_tool("secret"), "hidden": True}
        self.write_folder("", {**function_tool("add"), "description": "Adds.\n\nMore."}, script_tool("sample"), hidden)
        ended = self.run_wrapper("--list")
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(ended.stdout, "sample: 2 tools of script.py\n  add     Adds.\n  sample  sample.\n")

    def test_help_names_every_setting(self):
        ended = self.run_wrapper("--help")
        for name, *_ in SETTINGS:
            self.assertIn(name, ended.stdout)
        self.assertEqual(ended.returncode, 0)

    def test_version(self):
        self.assertRegex(self.run_wrapper("--version").stdout, r"^wrapper \d+\.\d+\.\d+\n$")

    def test_what_is_not_understood_stops_the_start(self):
        self.write_folder("")
        ports = ["--health-port"], ["--health-port", "x"], ["--health-port=70000"]
        for arguments in (["--nothing"], ["--list=1"], ["x"], *ports):
            ended = self.run_wrapper(*arguments)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""), arguments)
            self.assertTrue(ended.stderr.strip(), arguments)

    def test_a_setting_that_is_wrong_stops_the_start(self):
        self.write_folder("")
        ended = self.run_wrapper(WRAPPER_MAX_CONCURRENT="none")
        self.assertEqual(ended.returncode, 2)
        self.assertEqual(ended.stderr, "WRAPPER_MAX_CONCURRENT is 'none'; allowed is a whole number from 1 to 256.\n")


class ToolsFiles(StartCase):
    def faults(self, *tools, **more):
        self.write_folder("", *tools, **more)
        ended = self.run_wrapper("--list")
        self.assertEqual(ended.returncode, 2)
        return ended.stderr

    def test_each_fault_is_named_with_its_place(self):
        rule = {"parameter": "a", "flag": "--a", "takes": "some"}
        words = self.faults(
            {**function_tool("a b"), "inputSchema": {"type": "array"}},
            {**function_tool("f"), "function": 3},
            {"kind": "other"},
            script_tool("s", [rule]),
            function_tool("twice"),
            function_tool("twice"),
            "text",
            version=2,
        )
        for place in (
            "version: expected 1", "tools[0].name", "tools[0].inputSchema.type", "tools[1].function", "tools[2].kind",
            "tools[3].argv[0]", "tools[5].name", "tools[6]: must",
        ):
            self.assertIn(f"tools.json: {place}", words)

    def test_a_script_that_is_not_there(self):
        self.assertIn("there is no file 'gone.py'", self.faults(script="gone.py"))

    def test_a_file_that_is_no_json(self):
        self.write_folder("")
        for content in (b"{", b"\xff", b"[]", b'{"version": NaN}', b"[" * 100_000):
            with open(os.path.join(self.base, "tools.json"), "wb") as file:
                file.write(content)
            ended = self.run_wrapper("--list")
            self.assertEqual(ended.returncode, 2, content[:10])
            self.assertIn("tools.json", ended.stderr)

    def test_a_folder_without_one(self):
        self.assertIn("There is no tools.json", self.run_wrapper().stderr)

    def test_several_scripts_have_a_tools_file_each_and_no_name_twice(self):
        self.write_folder("", function_tool("a"), function_tool("b"))
        os.rename(os.path.join(self.base, "tools.json"), os.path.join(self.base, "one.tools.json"))
        self.write_folder("", function_tool("c"))
        os.rename(os.path.join(self.base, "tools.json"), os.path.join(self.base, "two.tools.json"))
        self.assertIn("3 tools of script.py, script.py", self.run_wrapper("--list").stdout)
        words = self.faults(function_tool("c"))
        self.assertIn("two tools are called 'c'", words)

    def test_hidden_tools_may_share_a_name(self):
        self.write_folder("", function_tool("a", NOTHING), {**function_tool("a"), "hidden": True})
        self.assertEqual(self.run_wrapper("--list").returncode, 0)


if __name__ == "__main__":
    import unittest

    unittest.main()
