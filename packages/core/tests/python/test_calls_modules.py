"""The modules are carried away in one file: they must be able to live without Pungi, and beside each other."""

import ast
import collections
import subprocess
import sys
import unittest

import python_half

FOLDER = python_half.FOLDER / "pungi" / "calls"
TREES = {path.stem: ast.parse(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"}


def names_bound(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


class Modules(unittest.TestCase):
    def test_they_import_the_standard_library_and_each_other(self):
        for name, tree in TREES.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    self.assertTrue(node.level == 1 and node.module in TREES and node in tree.body, ast.unparse(node))
                elif isinstance(node, ast.Import):
                    for alias in node.names:
                        # annotationlib came with Python 3.14.
                        self.assertIn(alias.name.partition(".")[0], sys.stdlib_module_names | {"annotationlib"}, name)

    def test_no_two_of_them_use_a_name_at_their_top(self):
        uses = collections.Counter(name for tree in TREES.values() for node in tree.body for name in names_bound(node))
        self.assertEqual([name for name, count in uses.items() if count > 1], [])

    def test_what_every_call_needs_loads_nothing_that_takes_long(self):
        """A plain function with plain arguments: what is loaded for it, a caller waits for."""
        source = """
import sys
before = set(sys.modules)
from pungi.calls import arguments, call, results
schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
variables = {}
exec("def function(a: int, b: 'list[str]' = ()): return {'a': a}", variables)
found, issues = arguments.check(schema, {"a": "1"})
value = call.perform_call(*call.prepare_call(variables, "function", found)[:3])
results.describe_result(value)
print(*sorted({"inspect", "asyncio", "datetime", "dataclasses", "difflib", "decimal"} & (set(sys.modules) - before)))
"""
        command = [sys.executable, "-c", source]
        done = subprocess.run(command, cwd=python_half.FOLDER, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("\n", ""))


if __name__ == "__main__":
    unittest.main()
