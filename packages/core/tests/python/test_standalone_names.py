import ast
import pathlib
import sys
import unittest

import python_half

FOLDERS = (python_half.FOLDER / "standalone", python_half.FOLDER / "pungi" / "calls")
MODULES = {path.stem: ast.parse(path.read_text("utf-8")) for folder in FOLDERS for path in folder.glob("*.py")}
MODULES.pop("__init__")


def top_level_names(tree):
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def imported(tree):
    """(the module, its level, the names) of every import anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name, 0, (each.asname or each.name.partition(".")[0],)) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module, node.level, tuple(each.asname or each.name for each in node.names)


class OneNamespace(unittest.TestCase):
    """What must hold for the modules to become one file."""

    def test_no_two_modules_share_a_name(self):
        owners = {}
        for module, tree in MODULES.items():
            for name in set(top_level_names(tree)):
                self.assertNotIn(name, owners, f"in {module} and in {owners.get(name)}")
                owners[name] = module

    def test_no_name_hides_a_module_of_the_standard_library_that_is_imported(self):
        names = {name for tree in MODULES.values() for name in top_level_names(tree)}
        packages = {name for tree in MODULES.values() for _, level, found in imported(tree) if level == 0 for name in found}
        self.assertEqual(names & packages, set())

    def test_nothing_is_imported_but_siblings_and_the_standard_library(self):
        for module, tree in MODULES.items():
            for name, level, _ in imported(tree):
                if level:
                    self.assertEqual((level, name in MODULES), (1, True), f"{module} imports {name}")
                else:
                    self.assertIn(name.partition(".")[0], sys.stdlib_module_names | {"annotationlib"}, module)

    def test_siblings_are_imported_at_the_top_under_their_own_names(self):
        for module, tree in MODULES.items():
            top = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.level:
                    self.assertIn(node, top, module)
                    self.assertTrue(all(each.asname is None for each in node.names), module)

    def test_every_module_is_needed_by_the_program(self):
        seen, waiting = set(), ["main"]
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += [name for name, level, _ in imported(MODULES[module]) if level]
        self.assertEqual(set(MODULES) - seen, set())

    def test_lines_fit(self):
        for folder in FOLDERS[:1]:
            for path in folder.glob("*.py"):
                for number, line in enumerate(pathlib.Path(path).read_text("utf-8").splitlines(), 1):
                    self.assertLessEqual(len(line), 128, f"{path.name}:{number}")


if __name__ == "__main__":
    unittest.main()
