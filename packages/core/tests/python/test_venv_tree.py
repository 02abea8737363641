"""The disk work of environments, on every Python there is."""

import contextlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import python_half  # noqa: F401 - puts the Python half on the path
from pungi.tools import bytecode_store, venv_tree

SANDBOX_UID = 1_900_000_000


class VenvTreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name).resolve()
        self.venv = self.base / "venv"
        self.store = self.base / "store"
        self.made = venv_tree.create(str(self.venv), inherit=False)
        self.site = pathlib.Path(venv_tree._site_packages(str(self.venv)))

    def finish(self, **changes):
        order = {
            "venv": str(self.venv), "configuration": self.made["configuration"],
            "will_be_at": "/final/place", "store": str(self.store), "uid": SANDBOX_UID, **changes,
        }
        return venv_tree.finish(**order)

    def refused(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
            self.finish()
        self.assertEqual(ended.exception.code, 65)
        return said.getvalue()

    def install(self, name="thing", version="1.0", source="VALUE = 1\n"):
        (self.site / f"{name}.py").write_text(source)
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    def test_what_is_installed_is_told_and_measured(self):
        self.install()
        told = self.finish()
        self.assertEqual(told["packages"], [{"name": "thing", "version": "1.0"}])
        self.assertGreater(told["bytes"], 0)

    def test_an_environment_works_after_all(self):
        self.install(source="import sys; print(sys.prefix)")
        self.finish()
        ran = subprocess.run([self.venv / "bin/python", "-m", "thing"], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout.strip(), str(self.venv))

    def test_bytecode_is_shared_and_believed_without_a_look_at_the_source(self):
        self.install()
        self.finish()
        compiled = pathlib.Path(importlib.util.cache_from_source(str(self.site / "thing.py")))
        self.assertEqual(compiled.stat().st_nlink, 2)
        self.assertEqual(int.from_bytes(compiled.read_bytes()[4:8], "little"), 1, "hash-based and not checked")
        (self.site / "thing.py").write_text("VALUE = 2\n")
        ask = [self.venv / "bin/python", "-c", "import thing; print(thing.VALUE)"]
        self.assertEqual(subprocess.run(ask, capture_output=True, text=True, check=True).stdout, "1\n")

    def test_bytecode_that_a_package_brings_stays_its_own(self):
        """Another package with the same source gets what was compiled from it, not what the first one brought."""
        self.install("evil", source="VALUE = 1\n")
        cache = pathlib.Path(importlib.util.cache_from_source(str(self.site / "evil.py")))
        cache.parent.mkdir()
        cache.write_bytes(b"not the bytecode of that source")
        self.install("good", source="VALUE = 1\n")
        self.finish()
        ask = [self.venv / "bin/python", "-c", "import good; print(good.VALUE)"]
        self.assertEqual(subprocess.run(ask, capture_output=True, text=True, check=True).stdout, "1\n")
        self.assertEqual(cache.read_bytes(), b"not the bytecode of that source")

    def test_what_does_not_compile_is_left_alone(self):
        self.install(source="this is not Python\n")
        self.assertEqual(len(self.finish()["packages"]), 1)

    def test_a_link_among_the_sources_is_not_followed(self):
        (self.base / "secret.py").write_text("SECRET = 1\n")
        (self.site / "link.py").symlink_to(self.base / "secret.py")
        self.finish()
        self.assertFalse(os.path.exists(importlib.util.cache_from_source(str(self.site / "link.py"))))

    def test_scripts_get_the_interpreter_of_their_final_place(self):
        for name, text in (
            ("plain", "#!/usr/bin/python3\nprint(1)\n"),
            ("long", "#!/bin/sh\n'''exec' '/a long/python' \"$0\" \"$@\"\n' '''\nprint(1)\n"),
        ):
            (self.venv / "bin" / name).write_text(text)
            (self.venv / "bin" / name).chmod(0o755)
        (self.venv / "bin" / "shell").write_text("#!/bin/sh\necho python\n")
        self.finish()
        for name in ("plain", "long"):
            self.assertEqual((self.venv / "bin" / name).read_text(), "#!/final/place/bin/python\nprint(1)\n")
            self.assertEqual((self.venv / "bin" / name).stat().st_mode & 0o777, 0o755)
        self.assertEqual((self.venv / "bin" / "shell").read_text(), "#!/bin/sh\necho python\n")

    def test_a_script_is_changed_in_a_file_of_its_own(self):
        shared = self.base / "in-the-cache"
        shared.write_text("#!/usr/bin/python3\nprint(1)\n")
        os.link(shared, self.venv / "bin" / "script")
        self.finish()
        self.assertEqual(shared.read_text(), "#!/usr/bin/python3\nprint(1)\n")

    def test_another_interpreter_is_refused(self):
        (self.venv / "bin/python").unlink()
        (self.venv / "bin/python").write_text("#!/bin/sh\n")
        self.assertIn("bin/python", self.refused())

    def test_a_further_interpreter_is_refused(self):
        (self.venv / "bin/python3.99").write_text("#!/bin/sh\n")
        self.assertIn("python3.99", self.refused())

    def test_an_interpreter_elsewhere_is_refused(self):
        (self.venv / "bin/python").unlink()
        (self.venv / "bin/python").symlink_to("/bin/sh")
        self.assertIn("bin/python", self.refused())

    def test_another_configuration_is_refused(self):
        with open(self.venv / "pyvenv.cfg", "a") as file:
            file.write("home = /elsewhere\n")
        self.assertIn("pyvenv.cfg", self.refused())

    def test_files_in_the_place_of_the_standard_library_are_refused(self):
        (self.site.parent / "os.py").write_text("")
        self.assertIn("standard library", self.refused())

    def test_a_copy_shares_its_files_and_keeps_its_links(self):
        self.install()
        copy = self.base / "copy"
        told = venv_tree.link(str(self.venv), str(copy))
        self.assertEqual(told["configuration"], self.made["configuration"])
        self.assertTrue(os.path.samefile(self.site / "thing.py", copy / self.site.relative_to(self.venv) / "thing.py"))
        self.assertEqual(os.readlink(copy / "bin/python"), os.readlink(self.venv / "bin/python"))

    def test_an_environment_may_see_the_packages_of_the_one_that_makes_it(self):
        self.install(source="VALUE = 'of the parent'\n")
        child = self.base / "child"
        code = f"from pungi.tools import venv_tree; print(venv_tree.create({str(child)!r}, inherit=True)['parent'])"
        environment = {"PYTHONPATH": str(python_half.FOLDER)}
        made = subprocess.run(
            [self.venv / "bin/python", "-S", "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        self.assertEqual(made.stdout.strip(), str(self.venv))
        ask = [child / "bin/python", "-c", "import thing; print(thing.VALUE)"]
        self.assertEqual(subprocess.run(ask, capture_output=True, text=True, check=True).stdout, "of the parent\n")


class BytecodeStoreTest(unittest.TestCase):
    def test_many_files_are_shared_out(self):
        with tempfile.TemporaryDirectory() as folder:
            site, store = pathlib.Path(folder, "site"), pathlib.Path(folder, "store")
            site.mkdir()
            for number in range(300):
                (site / f"m{number}.py").write_text(f"VALUE = {number % 150}\n")
            bytecode_store.fill(str(site), str(store), SANDBOX_UID)
            self.assertEqual(len(list((site / "__pycache__").iterdir())), 300)
            self.assertEqual(len([path for path in store.rglob("*.pyc")]), 150)
            self.assertEqual([path for path in store.rglob("*") if path.is_file() and path.suffix != ".pyc"], [])


if __name__ == "__main__":
    unittest.main()
