import os
import tempfile
import unittest

import python_half  # noqa: F401
from pungi.jail import landlock, system

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG = 16, 32, 64, 128, 256
MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 512, 1024, 2048, 4096
REFER, TRUNCATE, IOCTL_DEV = 8192, 16384, 32768


class Rights(unittest.TestCase):
    def test_reading_never_includes_a_way_to_change_anything(self):
        self.assertEqual(landlock.READ, EXECUTE | READ_FILE | READ_DIR)

    def test_writing_includes_all_that_files_need_and_no_device(self):
        for right in (WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG, MAKE_FIFO, MAKE_SYM, REFER, TRUNCATE):
            self.assertTrue(landlock.WRITE & right, bin(right))
        for right in (MAKE_CHAR, MAKE_BLOCK, IOCTL_DEV):
            self.assertFalse(landlock.WRITE & right, bin(right))

    def test_devices_are_read_and_written_only(self):
        self.assertEqual(landlock.DEVICE & ~(READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV), 0)
        self.assertEqual(landlock.READ_DEVICE & ~(READ_FILE | IOCTL_DEV), 0)

    def test_each_kernel_is_asked_for_what_it_knows(self):
        first = (1 << 13) - 1
        expected = {
            1: first,
            2: first | REFER,
            3: first | REFER | TRUNCATE,
            4: first | REFER | TRUNCATE,
            5: first | REFER | TRUNCATE | IOCTL_DEV,
            7: first | REFER | TRUNCATE | IOCTL_DEV,
        }
        for version, rights in expected.items():
            self.assertEqual(landlock._handled(version), rights, f"ABI {version}")

    def test_no_rule_gives_what_is_not_handled(self):
        newest = landlock._handled(7)
        for rights in (landlock.READ, landlock.WRITE, landlock.DEVICE):
            self.assertEqual(rights & ~newest, 0)


@unittest.skipUnless(landlock.abi() > 0, "this kernel has no landlock")
class Restriction(unittest.TestCase):
    """In a child, since there is no way back from it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = folder.name
        for name in ("readable", "writable", "hidden"):
            os.mkdir(os.path.join(self.base, name))
            with open(os.path.join(self.base, name, "file"), "w") as file:
                file.write(name)

    def in_child(self, what):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                system.forbid_new_privileges()
                landlock.restrict([
                    (os.path.join(self.base, "readable"), landlock.READ),
                    (os.path.join(self.base, "writable"), landlock.WRITE),
                    (os.path.join(self.base, "not there"), landlock.WRITE),
                ])
                what()
                answer = "allowed"
            except PermissionError:
                answer = "denied"
            except BaseException as error:
                answer = repr(error)
            os.write(write, answer.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            answer = pipe.read()
        os.waitpid(pid, 0)
        return answer

    def opening(self, name, mode):
        return self.in_child(lambda: open(os.path.join(self.base, name), mode).close())

    def test_holds_for_what_is_named_and_for_nothing_else(self):
        self.assertEqual(self.opening("readable/file", "r"), "allowed")
        self.assertEqual(self.opening("readable/file", "a"), "denied")
        self.assertEqual(self.opening("readable/new", "w"), "denied")
        self.assertEqual(self.opening("writable/file", "r+"), "allowed")
        self.assertEqual(self.opening("writable/new", "w"), "allowed")
        self.assertEqual(self.opening("hidden/file", "r"), "denied")

    def test_folders_too(self):
        self.assertEqual(self.in_child(lambda: os.listdir(os.path.join(self.base, "hidden"))), "denied")
        self.assertEqual(self.in_child(lambda: os.listdir(os.path.join(self.base, "readable"))), "allowed")
        self.assertEqual(self.in_child(lambda: os.mkdir(os.path.join(self.base, "readable", "new"))), "denied")
        self.assertEqual(self.in_child(lambda: os.mkdir(os.path.join(self.base, "writable", "new"))), "allowed")

    @unittest.skipUnless(landlock.abi() >= 4, "this kernel's landlock knows no network")
    def test_no_tcp(self):
        import socket

        for call in ("bind", "connect"):
            with socket.socket() as one:
                self.assertEqual(self.in_child(lambda: getattr(one, call)(("127.0.0.1", 9))), "denied")


if __name__ == "__main__":
    unittest.main()
