"""Holds every snippet of packages/core/tests/scope against its profile, and the check and the guard against what the table cannot say."""

import ast
import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

import python_half
from pungi.scope import scope

SCOPE_TESTS = pathlib.Path(__file__).resolve().parents[1] / "scope"
sys.path.insert(0, str(SCOPE_TESTS))

from profiles import FILES, PROFILES  # noqa: E402
from table import read_snippets  # noqa: E402

HAS_PANDAS = importlib.util.find_spec("pandas") is not None


def run_all(snippets, preload=(), go_on=False):
    """One answer for each; a process is forked for each from one interpreter, as the fork server does."""
    setup = {"path": [str(python_half.FOLDER), str(SCOPE_TESTS / "packages")], "preload": list(preload)}
    common = {"files": FILES, "goOn": go_on}
    jobs = [common | {"code": snippet["code"], "rules": PROFILES[snippet["profile"]]} for snippet in snippets]
    command = [sys.executable, "-I", "-S", "-B", str(SCOPE_TESTS / "run_snippets.py")]
    text = "\n".join(json.dumps(each) for each in (setup, *jobs))
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(snippets):
        raise AssertionError(done.stderr)
    return answers


def decide(answer):
    if answer["static"]:
        first = answer["static"][0]
        return f"static {first['rule']} {first['line']}"
    if answer["run"]:
        return f"run {answer['run']['rule']} {answer['run']['line'] or '-'}"
    return f"raises {answer['exception'].partition(':')[0]}" if answer["exception"] else "allowed"


class Table(unittest.TestCase):
    def hold(self, snippets, preload=()):
        for snippet, answer in zip(snippets, run_all(snippets, preload), strict=True):
            with self.subTest(group=snippet["group"], name=snippet["name"]):
                self.assertEqual(decide(answer), snippet["decision"], f"{snippet['code']}\n{answer}")

    def test_it_has_as_many_snippets_as_it_should(self):
        snippets = read_snippets()
        names = [(snippet["group"], snippet["name"]) for snippet in snippets]
        self.assertEqual(len(set(names)), len(names))
        self.assertGreaterEqual(len(snippets), 150)

    def test_every_snippet_of_the_standard_library(self):
        self.hold([snippet for snippet in read_snippets() if not snippet["needs"]])

    def test_every_snippet_again_with_its_modules_loaded_before(self):
        preload = ("socket", "subprocess", "urllib.request", "http.client", "pydoc", "asyncio", "multiprocessing", "pickle")
        self.hold([snippet for snippet in read_snippets() if not snippet["needs"]], preload)

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_every_snippet_that_needs_pandas(self):
        self.hold([snippet for snippet in read_snippets() if snippet["needs"]])

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_every_snippet_that_needs_pandas_with_pandas_loaded_before(self):
        # What is there already is judged by what it is, before the run.
        late = "strategic-not-loaded"
        self.hold([each for each in read_snippets() if each["needs"] and each["profile"] != late], ("pandas",))

    def test_the_guard_alone_stops_imports_and_builtins_that_the_check_would_have_stopped(self):
        snippets = [each for each in read_snippets() if each["decision"].startswith("static") and not each["needs"]]
        stopped = {each["name"] for each, answer in zip(snippets, run_all(snippets, go_on=True), strict=True) if answer["run"]}
        for name in ("import os", "open", "open as a decorator", "import_module with a constant", "an import in a text", "os.system"):
            self.assertIn(name, stopped)


class Check(unittest.TestCase):
    def check(self, source, profile="strategic", **changes):
        return scope.check(source, "main.py", PROFILES[profile] | changes)

    def test_a_refusal_says_line_column_rule_and_profile(self):
        found = self.check("x = 1\nif x:\n    é = 'é'; import os")
        reason = 'the profile "strategic" blocks the import of os'
        self.assertEqual(found, [{"line": 3, "column": 14, "rule": "import", "what": "os", "message": reason}])

    def test_an_import_is_told_for_each_of_its_names_in_their_order(self):
        rules = {"blockedImports": ["os", "socket", "codecs"]}
        found = scope.check("import socket, json, os\nfrom json import os, codecs, dumps", "main.py", rules)
        self.assertEqual(
            [(each["line"], each["column"], each["what"]) for each in found],
            [(1, 1, "socket"), (1, 1, "os"), (2, 1, "os"), (2, 1, "codecs")],
        )

    def test_an_import_that_is_not_allowed_is_told_with_what_is(self):
        def told(allowed):
            return scope.check("import itertools", "main.py", {"profile": "x", "allowedImports": allowed})[0]["message"]

        refused = 'the profile "x" does not allow the import of itertools; '
        self.assertEqual(told(["pandas", "numpy", "json"]), refused + "allowed are pandas, numpy, json")
        self.assertEqual(told(["json"]), refused + "allowed is json")
        self.assertEqual(told([]), refused + "it allows none")
        names = [f"m{number}" for number in range(15)]
        self.assertEqual(told(names), f"{refused}allowed are {', '.join(names[:12])} and 3 more")

    def test_every_place_is_told_once_first_to_last(self):
        found = self.check("open('x')\nimport os, sys\n__builtins__['eval']\nos.system('x')")
        self.assertEqual([(each["line"], each["what"]) for each in found], [(1, "open"), (2, "os"), (2, "sys"), (3, "eval")])

    def test_the_longest_entry_wins_and_of_two_equal_ones_the_blocked(self):
        def decide(name, allowed, blocked):
            return not self.check(f"import {name}", allowedImports=allowed, blockedImports=blocked)

        self.assertTrue(decide("a.b.c", ["a.b"], ["a"]))
        self.assertFalse(decide("a.b.c", ["a"], ["a.b"]))
        self.assertFalse(decide("a", ["a"], ["a"]))
        self.assertTrue(decide("ab", None, ["a"]))
        self.assertFalse(decide("ab", ["a"], []))
        self.assertTrue(decide("anything", None, []))

    def test_what_does_not_parse_is_no_matter_of_scope(self):
        for source in ("import os (", "x = = 1", "import os\0", "(" * 500 + ")" * 500):
            with self.subTest(source=source[:20]):
                self.assertEqual(self.check(source), [])

    def test_what_is_nested_too_deeply_to_be_read_is_refused(self):
        long = "x = " + " + ".join(["1"] * 900) + "\nimport os"
        self.assertEqual([each["line"] for each in self.check(long)], [2])
        tree = ast.parse("x")
        for _ in range(20_000):
            tree.body[0].value = ast.UnaryOp(ast.Not(), tree.body[0].value)
        found = self.check(tree)
        self.assertEqual([(each["rule"], each["what"]) for each in found], [("introspection", "nesting")])
        # Freeing it one by one: all at once is deeper than the stack.
        while isinstance(tree.body[0].value, ast.UnaryOp):
            tree.body[0].value = tree.body[0].value.operand

    def test_a_text_that_cannot_be_compiled_does_not_hide_what_is_beside_it(self):
        found = self.check("exec('-' * 9999 + '1')\nimport os", blockedBuiltins=[])
        self.assertEqual([each["line"] for each in found], [2])

    def test_what_the_profile_imports_is_known_by_its_name(self):
        for brought, use in (("json.decoder as d", "d.scanner"), ("json.decoder", "json.decoder.scanner")):
            with self.subTest(brought=brought):
                rules = {"allowedImports": ["json"], "blockedImports": ["json.scanner"], "defaultImports": [brought]}
                self.assertEqual([each["what"] for each in self.check(use, **rules)], ["json.scanner"])

    def test_without_rules_nothing_is_refused(self):
        self.assertEqual(scope.check("import os; open(eval('1'))", "main.py", {}), [])

    def test_the_sources_of_the_standard_library_are_read_without_an_error(self):
        for path in sorted(pathlib.Path(json.__file__).parents[1].glob("*.py"))[:60]:
            with self.subTest(path=path.name):
                self.check(path.read_bytes())


class Guard(unittest.TestCase):
    def test_a_violation_that_the_script_catches_stays_on_record(self):
        program = """if True:
            import sys
            sys.path.insert(0, sys.argv[1])
            from pungi.scope import scope_guard
            variables = {"__name__": "__main__"}
            rules = {"profile": "p", "blockedImports": ["socket"]}
            scope_guard.install(rules, "main.py", variables)
            code = "import math\\ntry:\\n    import socket\\nexcept Exception:\\n    print('swallowed')"
            try:
                exec(compile(code, "main.py", "exec"), variables)
            except scope_guard.ScopeViolation as error:
                print(error)
            exec(compile(code.replace("Exception", "BaseException"), "main.py", "exec"), variables)
            print([(each["line"], each["rule"], each["what"]) for each in scope_guard.violations])
        """
        command = [sys.executable, "-I", "-B", "-c", program, str(python_half.FOLDER)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        message = 'line 3: the profile "p" blocks the import of socket'
        record = "[(3, 'import', 'socket'), (3, 'import', 'socket')]"
        self.assertEqual(done.stdout.splitlines(), [message, "swallowed", record])


if __name__ == "__main__":
    unittest.main()
