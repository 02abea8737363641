"""The process that changes modes and times for runs: of files below their folder, and of no other."""

import python_half  # noqa: F401

import errno
import os
import select
import stat
import tempfile
import unittest

from pungi.jail import file_keeper, landlock, system
from pungi.jail.attribute_calls import CHMOD, CHOWN, REMOVEXATTR, SETXATTR, UTIME, Change

UID = 65534 if os.getuid() == 0 else os.getuid()


@unittest.skipUnless(system.IS_LINUX and landlock.abi() > 0, "needs landlock")
class FileKeeper(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = os.path.realpath(folder.name)
        self.run, self.other = os.path.join(self.work, "run"), os.path.join(self.work, "other")
        self.file = self.make("run/work/file")
        self.host = self.make("other/file")
        for path in (self.work, self.run, f"{self.run}/work", self.other, self.file, self.host):
            os.chown(path, UID, -1)
        self.keeper = file_keeper.start(UID, self.work)
        self.addCleanup(os.wait)
        self.addCleanup(self.keeper.close)
        self.channel = self.connect("run")

    def make(self, name):
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").close()
        os.chmod(path, 0o644)
        return path

    def connect(self, name):
        with self.keeper.connect(name) as channel:
            return self.keep(channel.dup())

    def keep(self, channel):
        self.addCleanup(channel.close)
        return channel

    def receive(self, channel):
        self.assertTrue(select.select([channel], [], [], 30)[0], "no answer")
        return channel.recv(64)

    def ask(self, path, *values, action=CHMOD, base="", follows=True, inode=0, name=b"", value=b"", channel=None):
        channel = channel or self.channel
        channel.send(Change(5, action, follows, inode, values, os.fsencode(base), os.fsencode(path), name, value).pack())
        number, error, _ = file_keeper.REPLY.unpack(self.receive(channel))
        self.assertEqual(number, 5)
        return errno.errorcode.get(error, error)

    def mode(self, path):
        return stat.S_IMODE(os.lstat(path).st_mode)

    def test_files_below_the_folder_are_changed(self):
        self.assertEqual(self.ask(self.file, 0o751), 0)
        self.assertEqual(self.mode(self.file), 0o751)
        self.assertEqual(self.ask("file", 0o600, base=f"{self.run}/work"), 0)
        self.assertEqual(self.ask("", 0o640, base=self.file, inode=os.stat(self.file).st_ino), 0)
        self.assertEqual(self.mode(self.file), 0o640)
        self.assertEqual(self.ask(self.file, 7, 5, 9, 6, action=UTIME), 0)
        self.assertEqual((os.stat(self.file).st_atime_ns, os.stat(self.file).st_mtime_ns), (7_000_000_005, 9_000_000_006))

    def test_whatever_leads_elsewhere_changes_nothing(self):
        os.symlink(self.host, f"{self.run}/work/link")
        os.symlink(self.other, f"{self.run}/work/folder")
        before = os.stat(self.host)
        ways = (self.host, f"{self.run}/work/link", f"{self.run}/work/folder/file", f"{self.run}/work/../../other/file", self.run, self.work)
        for way in ways:
            for action, values in ((CHMOD, (0o777,)), (UTIME, (1, 1, 1, 1)), (CHOWN, (UID, -1))):
                self.assertEqual(self.ask(way, *values, action=action), "EPERM", way)
        self.assertEqual(self.ask("file", 0o777, base=self.other), "EPERM")
        self.assertEqual(self.ask("../../other/file", 0o777, base=f"{self.run}/work"), "EPERM")
        self.assertEqual(os.stat(self.host)[:9], before[:9])

    def test_links_of_proc_lead_nowhere(self):
        for way in ("/proc/self/fd/1", "/proc/self/cwd", f"/proc/{os.getpid()}/root{self.file}", f"/proc/self/root{self.file}"):
            self.assertIn(self.ask(way, 0o777), ("ELOOP", "EACCES", "ENOENT"), way)

    def test_a_base_that_was_exchanged_is_not_used(self):
        inode = os.stat(f"{self.run}/work").st_ino
        os.rename(f"{self.run}/work", f"{self.run}/old")
        os.symlink(self.other, f"{self.run}/work")
        self.assertEqual(self.ask("file", 0o777, base=f"{self.run}/work", inode=inode), "ENOENT")
        os.unlink(f"{self.run}/work")
        os.mkdir(f"{self.run}/work")
        self.assertEqual(self.ask("file", 0o777, base=f"{self.run}/work", inode=inode), "ENOENT")
        self.assertEqual(self.mode(self.host), 0o644)

    def test_no_bits_but_those_of_access_and_no_closed_folders(self):
        self.assertEqual(self.ask(self.file, 0o7777), 0)
        self.assertEqual(self.mode(self.file), 0o777)
        self.assertEqual(self.ask(f"{self.run}/work", 0o7011), 0)
        self.assertEqual(self.mode(f"{self.run}/work"), 0o711)

    def test_a_link_has_times_and_no_mode(self):
        os.symlink("file", f"{self.run}/work/link")
        os.chown(f"{self.run}/work/link", UID, -1, follow_symlinks=False)
        self.assertEqual(self.ask(f"{self.run}/work/link", 0o777, follows=False), errno.errorcode[errno.EOPNOTSUPP])
        self.assertEqual(self.ask(f"{self.run}/work/link", 7, 0, 9, 0, action=UTIME, follows=False), 0)
        self.assertEqual(os.lstat(f"{self.run}/work/link").st_mtime, 9)
        self.assertNotEqual(os.stat(self.file).st_mtime, 9)

    def test_owners_stay_who_they_are(self):
        gid = os.stat(self.file).st_gid
        for uid, wanted, expected in ((-1, -1, 0), (UID, gid, 0), (0 if UID else 1, -1, "EPERM"), (-1, gid + 1, "EPERM")):
            self.assertEqual(self.ask(self.file, uid, wanted, action=CHOWN), expected)

    def test_attributes_are_of_users_and_bounded(self):
        def put(name, value, flags=0, path=self.file):
            return self.ask(path, flags, action=SETXATTR, name=name, value=value)

        if put(b"user.note", b"value") != 0:
            self.skipTest("no extended attributes in this file system")
        self.assertEqual(os.getxattr(self.file, "user.note"), b"value")
        self.assertEqual(put(b"user.note", b"more", os.XATTR_CREATE), "EEXIST")
        for name in (b"security.capability", b"system.posix_acl_access", b"trusted.x"):
            self.assertEqual(put(name, b"x"), "EPERM", name)
        for name in (b"user", b"other.x"):
            self.assertEqual(put(name, b"x"), errno.errorcode[errno.EOPNOTSUPP], name)
        self.assertEqual(put(b"user.note", b"x", path=self.host), "EPERM")
        answers = [put(b"user.%d" % number, b"x" * 500) for number in range(10)]
        self.assertEqual({*answers}, {0, "ENOSPC"})
        self.assertEqual(self.ask(self.file, action=REMOVEXATTR, name=b"user.note"), 0)
        self.assertNotIn("user.note", os.listxattr(self.file))
        self.assertEqual(self.ask(self.file, action=REMOVEXATTR, name=b"user.note"), "ENODATA")

    def test_what_is_no_change_ends_the_one_who_sent_it_and_nobody_else(self):
        other = self.connect("other")
        other.send(b"nonsense")
        self.assertEqual(self.receive(other), b"")
        self.assertEqual(self.ask(self.file, 1, action=200), "EINVAL")
        self.assertEqual(self.ask("missing", 0o600, base=self.run), "ENOENT")
        self.assertEqual(self.ask(self.file, 0o600), 0)

    def test_each_supervisor_has_its_own_folder(self):
        other = self.connect("other")
        self.assertEqual(self.ask(self.file, 0o777, channel=other), "EPERM")
        self.assertEqual(self.ask(self.host, 0o600, channel=other), 0)


if __name__ == "__main__":
    unittest.main()
