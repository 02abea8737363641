import os
import unittest

import python_half  # noqa: F401
from folder_case import FolderCase
from pungi.jail import build_jail


class BuildJail(FolderCase):
    def visible(self, readable, writable, command="/bin/sh"):
        return build_jail._visible_paths({"command": command, "jail": {"readable": readable}}, writable)

    def test_a_link_is_shown_with_what_it_leads_to(self):
        real = self.make("real")
        link = os.path.join(self.base, "link")
        os.symlink(real, link)
        paths = self.visible([link], [])
        self.assertIn(link, paths)
        self.assertIn(real, paths)

    def test_what_a_writable_folder_shows_is_not_put_into_it(self):
        environment = self.make("env")
        inner = self.make("env/bin")
        paths = self.visible([inner], [environment])
        self.assertIn(environment, paths)
        self.assertNotIn(inner, paths)

    def test_a_writable_folder_below_a_readable_one_comes_after_it(self):
        outer, inner = self.make("outer"), self.make("outer/inner")
        paths = self.visible([outer], [inner])
        self.assertLess(paths.index(outer), paths.index(inner))

    def test_nothing_is_made_through_a_link(self):
        links = [path for path in self.visible([], []) if os.path.islink(path)]
        for path in self.visible([], []):
            self.assertFalse(path.startswith(tuple(f"{link}/" for link in links)), path)

    def test_a_writable_folder_is_a_folder(self):
        link = os.path.join(self.base, "link")
        os.symlink(self.make("real"), link)
        for path in (link, os.path.join(self.base, "missing"), "/bin/sh"):
            with self.assertRaisesRegex(OSError, "is not a folder"):
                build_jail._writable_folders([path])


if __name__ == "__main__":
    unittest.main()
