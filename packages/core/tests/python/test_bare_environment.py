import pathlib
import subprocess
import sys
import tempfile
import unittest
import venv

import python_half  # noqa: F401

_DISTRIBUTIONS = "import importlib.metadata\nprint(list(importlib.metadata.distributions()))"


class BareEnvironment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def look(self, maker):
        """What an interpreter of the environment that `maker` makes says of itself."""
        made = self.folder / "env"
        code = f"import sys; sys.path.insert(0, {str(python_half.FOLDER)!r}); from pungi.jail import bare_environment; bare_environment.make({str(made)!r})"
        subprocess.run([maker, "-I", "-S", "-c", code], check=True)
        look = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, [path for path in sys.path if path.endswith('-packages')]]))"
        told = subprocess.run([made / "bin" / "python", "-c", look], check=True, capture_output=True, text=True)
        return told.stdout.strip(), made

    def assertOnlyItsOwn(self, told, made):
        site = "{}/lib/python{}.{}/site-packages".format(made, *sys.version_info)
        self.assertEqual(told, f'["{made}", "{sys.base_prefix}", ["{site}"]]')

    def test_has_the_standard_library_and_no_packages(self):
        told, made = self.look(sys.executable)
        self.assertOnlyItsOwn(told, made)
        listed = subprocess.run([made / "bin" / "python", "-c", _DISTRIBUTIONS], check=True, capture_output=True, text=True)
        self.assertEqual(listed.stdout, "[]\n")

    def test_has_none_of_the_virtual_environment_that_it_is_made_from(self):
        parent = self.folder / "parent"
        venv.EnvBuilder(symlinks=True, system_site_packages=True).create(parent)
        self.assertOnlyItsOwn(*self.look(parent / "bin" / "python"))


if __name__ == "__main__":
    unittest.main()
