import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

import python_half  # noqa: F401
from pungi.run import report
from pungi.discovery import discover, imports, inline_metadata, top_level
from pungi.discovery.module import Module
from discovered import inspected
from script_corpus import expectations, script_names, shorten, source_of

_MARKER = "corpus-marker.txt"


def _discover(source, filename="script.py"):
    return discover({"code": source, "filename": filename})


def _inspect(source, filename):
    _discover(source, filename)  # raises for what is no Python
    return inspected(source, filename)


def _holds_here(expected):
    """An expectation holds where the packages that it needs are installed, and those that it says are absent are not."""
    has = lambda name: importlib.util.find_spec(name) is not None  # noqa: E731
    return all(map(has, expected.get("needs", ()))) and not any(map(has, expected.get("absent", ())))


def _look(name, expected):
    """What is found, or the exception, in the form of the expectations."""
    about = {key: expected[key] for key in ("encoding", "since", "needs", "absent") if key in expected}
    try:
        found = _inspect(source_of(name, expected.get("encoding", "utf-8")), name)
    except SyntaxError as error:
        return {**about, "exception": {"type": type(error).__name__, "line": error.lineno}}
    report.encode_json(found)
    return {**about, **shorten(found)}


class NamedFiles(unittest.TestCase):
    def paths(self, source):
        return [(each["line"], each["path"]) for each in _discover(source)["namedFiles"]]

    def test_are_texts_that_may_be_names_of_files_in_the_order_of_their_lines(self):
        source = 'def f():\n    return open("b/c.csv"), open("./a.txt")\n\nX = "a.txt", ".env", "x.tar.gz", "a.txt"\n'
        self.assertEqual(self.paths(source), [(2, "a.txt"), (2, "b/c.csv"), (4, "x.tar.gz")])

    def test_are_no_other_texts(self):
        texts = ["/etc/a.conf", "~/a.txt", "../a.txt", "a/../b.txt", "https://a.example/b.txt", "a", "a.", "*.csv", "a\nb.txt", "c:\\a.txt", "x" * 300 + ".csv"]
        self.assertEqual(self.paths("\n".join(map(repr, texts))), [])

    def test_are_not_without_end(self):
        self.assertEqual(len(self.paths("\n".join(f"'{n}.csv'" for n in range(1000)))), 200)


class Corpus(unittest.TestCase):
    maxDiff = None

    def test_every_script_is_read_as_expected(self):
        for name, expected in expectations().items():
            with self.subTest(name):
                if tuple(expected.get("since", ())) > sys.version_info[:2]:
                    self.assertRaises(SyntaxError, _discover, source_of(name), name)
                elif _holds_here(expected):
                    self.assertEqual(_look(name, expected), expected)

    def test_there_is_an_expectation_for_every_script_and_there_are_many(self):
        self.assertEqual(sorted(expectations()), script_names())
        self.assertGreater(len(script_names()), 60)

    def test_a_script_that_only_does_its_work_is_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            marker = pathlib.Path(folder) / _MARKER
            for name in ("effect_endless.py", "effect_exits.py", "effect_subprocess.py"):
                with self.subTest(name):
                    self.assertIn(_MARKER, source_of(name))
                    found = inspected(source_of(name).replace(_MARKER, marker.as_posix()), name)
                    self.assertEqual([tool["parser"] for tool in found["scripts"]], [None])
                    self.assertFalse(marker.exists())

    def test_the_marker_is_made_by_whoever_runs_such_a_script(self):
        for name in ("effect_writes_file.py", "effect_in_decorator.py", "effect_exits.py"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, "-c", source_of(name)], cwd=folder, capture_output=True)
                self.assertTrue((pathlib.Path(folder) / _MARKER).exists())


class InlineMetadata(unittest.TestCase):
    def read(self, *lines):
        return inline_metadata.read("\n".join(["# /// script", *lines, "# ///", ""]))

    def test_lists_in_every_layout(self):
        for lines in (
            ['# dependencies = ["a", "b>1"]'],
            ["# dependencies=['a','b>1']"],
            ["# dependencies = [", '#   "a",', "#", '#   "b>1",  # why', "# ]"],
            ["# 'dependencies' = [ 'a'", '# , "b\\u003E1" ]'],
        ):
            self.assertEqual(self.read(*lines), (["a", "b>1"], None, []), lines)

    def test_keys_of_tables_are_not_meant(self):
        lines = ['# requires-python = ">=3.10"', "#", "# [tool.x]", '# dependencies = ["a"]']
        self.assertEqual(self.read(*lines), ([], ">=3.10", []))

    def test_a_list_that_looks_like_a_table_goes_on(self):
        lines = ["# dependencies = [", "#   'a[extra]',", "# ]", '# requires-python = ">3"']
        self.assertEqual(self.read(*lines), (["a[extra]"], ">3", []))

    def test_what_is_no_list_of_texts_is_remarked(self):
        for value in ('"a"', "[1]", '["a" "b"]', '["a"', "[,]", '{x = "a"}'):
            dependencies, _, (remark,) = self.read(f"# dependencies = {value}")
            self.assertEqual((dependencies, remark["line"]), ([], 1))
            self.assertIn("dependencies", remark["reason"])

    def test_two_blocks_are_none(self):
        block = '# /// script\n# dependencies = ["a"]\n# ///\n'
        dependencies, _, (remark,) = inline_metadata.read(f"{block}\nx = 1\n{block}")
        self.assertEqual(dependencies, [])
        self.assertIn("line 6", remark["reason"])

    def test_other_blocks_and_open_ones_are_none(self):
        listing = '# dependencies = ["a"]'
        for text in (f"# /// other\n{listing}\n# ///", f"# /// script\n{listing}", "# /// script\n# ///", ""):
            self.assertEqual(inline_metadata.read(text), ([], None, []))

    def test_many_opening_lines_take_no_time(self):
        self.assertEqual(inline_metadata.read("# /// script\n" * 200_000)[0], [])


class Imports(unittest.TestCase):
    def needed(self, source):
        return imports.foreign_imports(Module(source, "script.py").tree)

    def test_top_level_names_from_anywhere(self):
        source = "import numpy.linalg, os\nfrom a.b import c\nfrom . import d\ndef f():\n    class G:\n        import deep\n"
        self.assertEqual(self.needed(source), ["a", "deep", "numpy"])

    def test_what_the_script_can_do_without(self):
        for handler in ("ImportError", "ModuleNotFoundError", "(ValueError, ImportError)", "Exception", ""):
            self.assertEqual(self.needed(f"try:\n    import fast\nexcept {handler}:\n    import slow\n"), [])
        self.assertEqual(self.needed("from contextlib import suppress\nwith suppress(ImportError):\n    import fast\n"), [])
        self.assertEqual(self.needed("import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    import b\n"), ["b"])

    def test_what_it_cannot_do_without(self):
        for end in ("raise", "raise SystemExit('x')", "sys.exit('install it')", "exit(1)"):
            source = f"import sys\ntry:\n    import needed\nexcept ImportError:\n    print()\n    {end}\n"
            self.assertEqual(self.needed(source), ["needed"])
        self.assertEqual(self.needed("try:\n    import needed\nexcept ValueError:\n    pass\n"), ["needed"])


class TopLevel(unittest.TestCase):
    def acts(self, source):
        return top_level.has_side_effects(Module(source, "script.py").tree)

    def test_definitions_are_no_effects(self):
        for source in (
            "X = 1\nY: int = 2\nZ = [str(x) for x in range(3)]\nW = {'a': len('x')}",
            "import re, logging\nP = re.compile('x')\nlog = logging.getLogger(__name__)\nlogging.basicConfig(level=10)",
            "from pathlib import Path\nHERE = Path(__file__).resolve().parent",
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('x')",
            "try:\n    import x\nexcept ImportError:\n    print('none')\n    x = None",
            "import sys\nif sys.version_info > (3, 11):\n    Y = 1\nelse:\n    Y = 2",
            "TABLE = {}\nfor key in 'abc':\n    TABLE[key] = key.upper()",
            "from typing import TypeVar\nT = TypeVar('T')\nf = lambda: print('later')",
            "import sys\nsys.path.insert(0, 'lib')\nassert sys.version_info > (3,)\n'a text'\n...",
            "if __name__ == '__main__':\n    print('only then')",
        ):
            self.assertFalse(self.acts(source), source)

    def test_doing_something_is(self):
        for source in (
            "print('x')", "import os\nos.remove('x')", "data = open('x').read()", "config = load()", "while True:\n    pass",
            "with open('x'):\n    pass", "for x in range(3):\n    print(x)", "if True:\n    run()",
            "try:\n    run()\nexcept E:\n    pass", "x = [send(y) for y in z]", "raise SystemExit",
            "match 1:\n    case 1:\n        run()", "x = 1 if run() else 2",
            "if __name__ == '__main__':\n    pass\nelse:\n    run()", "X = {'a': run()}",
        ):
            self.assertTrue(self.acts(source), source)

    def test_guards(self):
        for test, is_guard in (
            ("__name__ == '__main__'", True), ("'__main__' == __name__", True), ("__name__ == '__main__' and x", True),
            ("__name__ != '__main__'", False), ("__name__ == 'x'", False), ("name == '__main__'", False), ("x", False),
        ):
            tree = Module(f"if {test}:\n    pass", "script.py").tree
            self.assertEqual(top_level.has_main_guard(tree), is_guard, test)


class Modules(unittest.TestCase):
    def test_what_is_no_python_is_said_with_its_line(self):
        for source, line in (("x = (", 1), ("def f():\nreturn 1", 2), ("x = 1\nreturn x", 2), ("x = 1\nyield x\n", 2)):
            with self.assertRaises(SyntaxError) as raised:
                _discover(source)
            self.assertEqual(raised.exception.lineno, line)

    def test_a_null_is_refused(self):
        self.assertRaises((SyntaxError, ValueError), _discover, "x = 1\0")

    def test_names_of_tools_come_from_the_name_of_the_file(self):
        for filename, name in (
            ("report.py", "report"), ("my report (2).py", "my_report_2"), ("a/b/c.py", "c"), ("Größe.py", "Gr_e"),
            ("日本.py", "script"), ("x" * 300 + ".py", "x" * 120), ("__main__.py", "main"),
        ):
            self.assertEqual([tool["name"] for tool in _discover("print(1)", filename)["scripts"]], [name])


if __name__ == "__main__":
    unittest.main()
