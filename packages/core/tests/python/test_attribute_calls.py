"""What a call that changes a file asks for, read from the memory of who makes it: here, this process."""

import python_half  # noqa: F401

import ctypes
import errno
import mmap
import os
import sys
import tempfile
import threading
import unittest

from pungi.jail import attribute_calls, box
from pungi.jail.attribute_calls import CHMOD, CHOWN, REMOVEXATTR, SETXATTR, UTIME, Change

AT_FDCWD = (1 << 64) - 100
NO_FOLLOW, EMPTY_PATH = 0x100, 0x1000
NOW = (1 << 30) - 1


@unittest.skipUnless(sys.platform == "linux", "needs /proc")
class AttributeCalls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.box = box.FolderBox(os.path.join(os.path.realpath(folder.name), "run"), {})
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.box.work)
        self.kept = []

    def pointer(self, value):
        self.kept.append(value if not isinstance(value, bytes) else ctypes.create_string_buffer(value))
        return ctypes.addressof(self.kept[-1])

    def read(self, name, *arguments):
        pointers = [self.pointer(value) if not isinstance(value, int) else value for value in arguments]
        return attribute_calls.read(name, 7, threading.get_native_id(), (*pointers, *[0] * 6)[:6], self.box)

    def assertFails(self, error, name, *arguments):
        with self.assertRaises(OSError) as caught:
            self.read(name, *arguments)
        self.assertEqual(errno.errorcode[caught.exception.errno], errno.errorcode[error])

    def test_a_path_starts_where_the_process_is_or_from_its_descriptor(self):
        here, inode = os.fsencode(self.box.work), os.stat(".").st_ino
        expected = Change(7, CHMOD, True, inode, (0o640,), here, b"a file")
        self.assertEqual(self.read("chmod", b"a file", 0o640), expected)
        self.assertEqual(self.read("fchmodat", AT_FDCWD, b"a file", 0o640), expected)
        folder = os.open(".", os.O_PATH)
        self.addCleanup(os.close, folder)
        os.chdir("/")
        self.assertEqual(self.read("fchmodat", folder, b"a file", 0o640), expected)
        self.assertEqual(self.read("chmod", b"/usr/x", 0o640), Change(7, CHMOD, True, 0, (0o640,), b"", b"/usr/x"))
        self.assertEqual(self.read("chmod", b"usr/x", 0o640), Change(7, CHMOD, True, 0, (0o640,), b"/", b"usr/x"))

    def test_a_descriptor_is_the_file_itself_by_any_of_its_names(self):
        with open("file", "w") as file:
            fd = file.fileno()
            expected = Change(7, CHMOD, True, os.fstat(fd).st_ino, (0o600,), os.fsencode(f"{self.box.work}/file"), b"")
            for call in (
                ("fchmod", fd, 0o600), ("fchmodat2", fd, b"", 0o600, EMPTY_PATH), ("chmod", b"/proc/self/fd/%d" % fd, 0o600),
                ("chmod", b"/dev/fd/%d" % fd, 0o600),
            ):
                self.assertEqual(self.read(*call), expected, call[0])
            self.assertEqual(self.read("utimensat", fd, 0, 0, 0)._replace(values=(0o600,), action=CHMOD), expected)

    def test_what_has_no_name_is_left_as_it_is(self):
        reading, writing = os.pipe()
        with tempfile.TemporaryFile(dir=self.box.work) as file:
            for fd in (reading, writing, file.fileno()):
                self.assertIsNone(self.read("fchmod", fd, 0o600))
        os.close(reading), os.close(writing)

    def test_files_of_the_host_that_are_open_are_refused_at_once(self):
        with open(os.__file__) as file:
            self.assertFails(errno.EPERM, "fchmod", file.fileno(), 0o777)

    def test_links_are_followed_unless_the_call_says_otherwise(self):
        for follows, call in (
            (True, ("chown", b"l", 1, 2)), (False, ("lchown", b"l", 1, 2)), (True, ("fchownat", AT_FDCWD, b"l", 1, 2, 0)),
            (False, ("fchownat", AT_FDCWD, b"l", 1, 2, NO_FOLLOW)),
        ):
            asked = self.read(*call)
            self.assertEqual((asked.action, asked.follows, asked.values), (CHOWN, follows, (1, 2)), call[0])
        self.assertEqual(self.read("chown", b"l", (1 << 32) - 1, (1 << 64) - 1).values, (-1, -1))

    def test_times_are_read_in_the_unit_of_the_call(self):
        four, two = (ctypes.c_int64 * 4)(1, 2, -3, 4), (ctypes.c_int64 * 2)(1, -3)
        self.assertEqual(self.read("utimensat", AT_FDCWD, b"f", four, 0).values, (1, 2, -3, 4))
        self.assertEqual(self.read("utimes", b"f", four).values, (1, 2000, -3, 4000))
        self.assertEqual(self.read("futimesat", AT_FDCWD, b"f", four).values, (1, 2000, -3, 4000))
        self.assertEqual(self.read("utime", b"f", two).values, (1, 0, -3, 0))
        self.assertEqual(self.read("utime", b"f", 0), self.read("utime", b"f", 0)._replace(action=UTIME, values=(0, NOW, 0, NOW)))
        self.assertFails(errno.EINVAL, "utimes", b"f", (ctypes.c_int64 * 4)(1, 1_000_000, 1, 0))

    def test_an_attribute_has_a_name_and_a_value_of_bounded_size(self):
        asked = self.read("setxattr", b"f", b"user.note", b"value", 5, 1)
        self.assertEqual((asked.action, asked.path, asked.name, asked.value, asked.values), (SETXATTR, b"f", b"user.note", b"value", (1,)))
        self.assertEqual(self.read("setxattr", b"f", b"user.note", 0, 0, 0).value, b"")
        asked = self.read("lremovexattr", b"f", b"user.note")
        self.assertEqual((asked.action, asked.follows, asked.name, asked.value), (REMOVEXATTR, False, b"user.note", b""))
        for size in (4097, 1 << 40, (1 << 64) - 1):
            self.assertFails(errno.ENOSPC, "setxattr", b"f", b"user.note", b"value", size, 0)
        for name in (b"", b"n" * 256):
            self.assertFails(errno.ERANGE, "removexattr", b"f", name)
        self.assertFails(errno.EFAULT, "setxattr", b"f", b"user.note", 1, 5, 0)
        self.assertFails(errno.EFAULT, "removexattr", b"f", 1)

    def test_pointers_to_nothing_fail_as_in_the_kernel(self):
        for address in (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
            self.assertFails(errno.EFAULT, "chmod", address, 0o600)
            if address:
                self.assertFails(errno.EFAULT, "utimensat", AT_FDCWD, b"f", address, 0)
        self.assertFails(errno.ENAMETOOLONG, "chmod", b"x" * 5000, 0o600)
        self.assertFails(errno.ENOENT, "chmod", b"", 0o600)
        self.assertFails(errno.EINVAL, "fchmodat2", AT_FDCWD, b"f", 0o600, 0x8000)
        self.assertFails(errno.EBADF, "fchmod", 999, 0o600)
        self.assertFails(errno.EBADF, "fchmod", (1 << 32) - 1, 0o600)

    def test_a_path_may_end_where_the_memory_does(self):
        libc, size = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        start = libc.mmap(None, 2 * size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        self.addCleanup(libc.munmap, start, size)
        self.assertEqual(libc.munmap(start + size, size), 0)
        ctypes.memmove(start + size - 5, b"name\0", 5)
        self.assertEqual(self.read("chmod", start + size - 5, 0o600).path, b"name")
        ctypes.memmove(start + size - 5, b"name!", 5)
        self.assertFails(errno.EFAULT, "chmod", start + size - 5, 0o600)

    def test_a_change_arrives_as_it_was_sent(self):
        asked = Change(1 << 63, UTIME, False, 1 << 40, (-1, NOW, 2, 3), b"/base\xff", b"path", b"user.name", b"\0value")
        self.assertEqual(Change.unpack(asked.pack()), asked)


if __name__ == "__main__":
    unittest.main()
