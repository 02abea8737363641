import os
import socket
import stat
import tempfile
import unittest

import python_half  # noqa: F401
from pungi.jail import lent_folders

OWN = os.getuid(), os.getgid()
OTHER = (54321, 54321) if os.getuid() == 0 else OWN


class LentFolders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside = os.path.join(folder.name, "outside")
        self.lent = os.path.join(folder.name, "lent")
        for path in (self.outside, self.lent):
            os.mkdir(path)
        self.write(self.outside, "file", 0o600)

    def write(self, folder, name, mode=0o644, text="untouched"):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def read(self, *parts):
        with open(os.path.join(*parts), encoding="ascii") as file:
            return file.read()

    def lend(self):
        return lent_folders.lend([self.lent], OTHER)

    def take_back(self, links):
        lent_folders.take_back([self.lent], links)

    def owner(self, *parts):
        entry = os.lstat(os.path.join(*parts))
        return entry.st_uid, entry.st_gid

    def mode(self, name):
        return stat.S_IMODE(os.lstat(os.path.join(self.lent, name)).st_mode)

    def test_everything_is_given_and_taken_but_nothing_that_a_link_leads_to(self):
        os.mkdir(os.path.join(self.lent, "below"))
        self.write(self.lent, "below/file")
        os.symlink(self.outside, os.path.join(self.lent, "folder-link"))
        os.symlink(os.path.join(self.outside, "file"), os.path.join(self.lent, "file-link"))
        names = ("", "below", "below/file", "folder-link", "file-link")
        links = self.lend()
        self.assertEqual({self.owner(self.lent, name) for name in names}, {OTHER})
        self.take_back(links)
        self.assertEqual({self.owner(self.lent, name) for name in names}, {OWN})
        self.assertEqual({self.owner(self.outside, name) for name in ("", "file")}, {OWN})
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.outside, "file")).st_mode), 0o600)

    def test_a_file_with_other_names_is_separated_from_them(self):
        other = self.write(self.outside, "shared", 0o755)
        mine = os.path.join(self.lent, "shared")
        os.link(other, mine)
        self.lend()
        self.assertEqual(self.owner(other), OWN)
        self.write(self.lent, "shared", 0o755, text="changed")
        self.assertEqual(self.read(other), "untouched")
        self.assertEqual(os.listdir(self.lent), ["shared"])

    def test_a_separated_file_stays_what_it_was(self):
        other = self.write(self.outside, "shared", 0o755)
        os.utime(other, (1, 2))
        os.link(other, os.path.join(self.lent, "shared"))
        self.lend()
        entry = os.stat(os.path.join(self.lent, "shared"))
        self.assertEqual((stat.S_IMODE(entry.st_mode), entry.st_mtime, self.read(self.lent, "shared")), (0o755, 2, "untouched"))

    def test_links_that_were_there_stay_and_new_ones_only_to_neighbours(self):
        old, changed = (os.path.join(self.lent, name) for name in ("old", "changed"))
        os.symlink(self.outside, old)
        os.symlink("/bin/sh", changed)
        links = self.lend()
        os.unlink(changed)
        for name, target in (
            ("changed", self.outside), ("new", self.outside), ("up", ".."), ("here", "."), ("far", "x/../../.."), ("neighbour", "old"),
        ):
            os.symlink(target, os.path.join(self.lent, name))
        self.take_back(links)
        self.assertEqual(sorted(os.listdir(self.lent)), ["neighbour", "old"])
        self.assertEqual(os.listdir(self.outside), ["file"])

    def test_modes_become_plain(self):
        links = self.lend()
        for name, mode in (("setuid", 0o6711), ("open", 0o666), ("hidden", 0)):
            self.write(self.lent, name, mode)
        os.mkdir(os.path.join(self.lent, "closed"))
        self.write(self.lent, "closed/file", 0o200)
        os.chmod(os.path.join(self.lent, "closed"), 0o1000)
        self.take_back(links)
        names = ("setuid", "open", "hidden", "closed", "closed/file")
        self.assertEqual([self.mode(name) for name in names], [0o755, 0o644, 0o644, 0o755, 0o644])

    def test_what_is_neither_file_nor_folder_is_removed(self):
        links = self.lend()
        os.mkfifo(os.path.join(self.lent, "pipe"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.join(self.lent, "socket"))
        self.take_back(links)
        self.assertEqual(os.listdir(self.lent), [])

    def test_names_that_are_no_text_are_taken_back(self):
        links = self.lend()
        name = os.path.join(os.fsencode(self.lent), b"\xff\xfe")
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))
        self.take_back(links)
        self.assertEqual(stat.S_IMODE(os.lstat(name).st_mode), 0o644)


if __name__ == "__main__":
    unittest.main()
