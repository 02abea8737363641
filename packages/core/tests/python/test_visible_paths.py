import os
import sys
import unittest
from unittest import mock

import python_half  # noqa: F401
from folder_case import FolderCase
from pungi.jail import host_jail


class VisiblePaths(FolderCase):
    def visible(self, *extra):
        return host_jail.visible_paths(list(extra))

    def test_the_interpreter_and_its_library_are(self):
        paths = self.visible()
        for needed in (os.path.realpath(sys.executable), os.path.realpath(os.__file__)):
            self.assertTrue(any(needed.startswith(f"{os.path.realpath(path)}/") for path in paths), needed)

    def test_each_exists_and_none_is_below_another(self):
        inner = self.make("env/lib")
        paths = self.visible(os.path.dirname(inner), inner)
        self.assertIn(os.path.dirname(inner), paths)
        self.assertNotIn(inner, paths)
        self.assertEqual(len(paths), len(set(paths)))
        for path in paths:
            self.assertTrue(os.path.lexists(path), path)

    def test_a_neighbour_whose_name_begins_alike_is_its_own(self):
        one, other = self.make("env"), self.make("env-other")
        paths = self.visible(one, other)
        self.assertIn(one, paths)
        self.assertIn(other, paths)

    def test_what_does_not_exist_is_left_out(self):
        self.assertNotIn(os.path.join(self.base, "gone"), self.visible(os.path.join(self.base, "gone")))

    def test_no_place_for_secrets_is(self):
        paths = self.visible()
        for hidden in ("/etc", "/etc/passwd", "/etc/shadow", "/home", "/root", "/var", "/proc", "/sys", "/run", "/", "/etc/ssl/private"):
            self.assertNotIn(hidden, paths)
            self.assertFalse(any(hidden.startswith(f"{path}/") for path in paths), hidden)

    def test_the_root_and_the_home_are_refused_with_a_sentence(self):
        for refused in ("/", os.path.expanduser("~")):
            with self.assertRaisesRegex(OSError, "would make .* visible"):
                self.visible(refused)

    def test_the_home_is_refused_by_any_of_its_names(self):
        link = os.path.join(self.base, "link")
        home = self.make("home")
        os.symlink(home, link)
        with mock.patch.dict(os.environ, HOME=home), self.assertRaises(OSError):
            self.visible(link)

    def test_a_virtual_environment_is_visible_as_a_whole(self):
        environment = self.make("venv/bin")
        open(os.path.join(self.base, "venv", "pyvenv.cfg"), "w").close()
        with mock.patch.object(sys, "executable", os.path.join(environment, "python3")):
            self.assertIn(os.path.join(self.base, "venv"), self.visible())


if __name__ == "__main__":
    unittest.main()
