import ctypes
import mmap
import os
import signal
import stat
import tempfile
import threading
import unittest

import python_half  # noqa: F401
from pungi.jail import box
from pungi.limits import watch

MB = 1024 * 1024
LIBC = ctypes.CDLL(None)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]


class RemoveTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.outside = os.path.join(folder.name, "outside")
        os.mkdir(self.outside)
        with open(os.path.join(self.outside, "kept"), "w") as file:
            file.write("kept")
        self.path = os.path.join(folder.name, "doomed")
        os.mkdir(self.path)

    def remove(self):
        box.remove_tree(self.path)
        self.assertFalse(os.path.lexists(self.path))
        self.assertEqual(os.listdir(self.outside), ["kept"])

    def test_files_and_folders(self):
        os.makedirs(os.path.join(self.path, "a/b/c"))
        for name in ("x", "a/x", "a/b/x", "a/b/c/x"):
            open(os.path.join(self.path, name), "w").close()
        os.mkfifo(os.path.join(self.path, "a/fifo"))
        self.remove()

    def test_an_empty_one(self):
        self.remove()

    def test_more_levels_than_a_path_can_name(self):
        folder = os.open(self.path, os.O_RDONLY)
        for _ in range(1500):  # six bytes each; a path has at most 4096, and Python 1000 calls
            os.mkdir("level", dir_fd=folder)
            inner = os.open("level", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(folder)
        self.remove()

    def test_many_folders_side_by_side_with_the_names_it_uses_itself(self):
        for number in range(20):
            os.makedirs(os.path.join(self.path, f".removing-{number}", f".removing-{number + 1}", "inner"))
        self.remove()

    def test_a_folder_with_the_name_it_would_move_another_one_to(self):
        os.makedirs(os.path.join(self.path, "a", "b"))
        os.makedirs(os.path.join(self.path, ".removing-1", "full"))
        open(os.path.join(self.path, ".removing-1", "full", "file"), "w").close()
        self.remove()

    def test_a_file_with_the_name_it_would_move_a_folder_to(self):
        os.makedirs(os.path.join(self.path, "a", "b"))
        for number in range(1, 4):
            open(os.path.join(self.path, f".removing-{number}"), "w").close()
        self.remove()

    def test_locked_folders(self):
        os.makedirs(os.path.join(self.path, "a/b"))
        open(os.path.join(self.path, "a/b/file"), "w").close()
        os.chmod(os.path.join(self.path, "a/b"), 0)
        os.chmod(os.path.join(self.path, "a"), 0)
        self._as_ordinary_user(self.remove)

    def test_a_locked_root(self):
        os.makedirs(os.path.join(self.path, "a"))
        os.chmod(self.path, 0)
        self._as_ordinary_user(self.remove)

    def test_links_are_removed_and_not_followed(self):
        os.makedirs(os.path.join(self.path, "a"))
        os.symlink(self.outside, os.path.join(self.path, "to-folder"))
        os.symlink(os.path.join(self.outside, "kept"), os.path.join(self.path, "a", "to-file"))
        os.symlink("nowhere", os.path.join(self.path, "a", "broken"))
        os.symlink("..", os.path.join(self.path, "a", "up"))
        os.link(os.path.join(self.outside, "kept"), os.path.join(self.path, "hard"))
        mode = os.stat(os.path.join(self.outside, "kept")).st_mode
        self.remove()
        self.assertEqual(os.stat(os.path.join(self.outside, "kept")).st_mode, mode)

    def test_a_link_in_its_place_is_not_followed(self):
        os.rmdir(self.path)
        os.symlink(self.outside, self.path)
        with self.assertRaises(OSError):
            box.remove_tree(self.path)
        self.assertEqual(os.listdir(self.outside), ["kept"])

    def _as_ordinary_user(self, what):
        """Root may enter locked folders: the one who may not must be tried."""
        if os.getuid() != 0:
            return what()
        user = 1_900_000_001
        base = os.path.dirname(self.path)
        for path in (base, self.outside, self.path):
            os.chown(path, user, user)
        for folder, folders, files in os.walk(self.path):
            for name in (*folders, *files):
                os.chown(os.path.join(folder, name), user, user)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
                what()
                status = 0
            except BaseException as error:
                os.write(2, f"{error!r}\n".encode())
            os._exit(status)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


class EmptyFolder(unittest.TestCase):
    def test_keeps_the_folder_and_nothing_in_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("gone/inner", ".removing-1/inner"):
                os.makedirs(os.path.join(folder, name))
            open(os.path.join(folder, "file"), "w").close()
            box.empty_folder(folder)
            self.assertEqual(os.listdir(folder), [])


class FolderBox(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.box = box.FolderBox(os.path.join(folder.name, "run"), {}, hides_shm=True)

    def test_has_private_folders(self):
        for path in (self.box.root, self.box.work, self.box.temporary, self.box.shared):
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o700)

    def test_has_no_place_for_shared_memory_where_that_of_the_host_is_in_reach(self):
        other = box.FolderBox(f"{self.box.root}-other", {})
        self.assertIsNone(other.shared)
        self.assertEqual(sorted(os.listdir(other.root)), ["tmp", "work"])

    def test_is_over_by_size_in_its_folders_together(self):
        for number, path in enumerate((self.box.work, self.box.shared)):
            self.assertFalse(self.box.is_over(2, ()))
            with open(os.path.join(path, str(number)), "wb") as file:
                file.write(b"x" * (3 * MB // 2))
                file.flush()
                os.fsync(file.fileno())
        self.assertTrue(self.box.is_over(2, ()))
        self.assertTrue(self.box.exceeds(2))
        self.assertFalse(self.box.exceeds(4))

    def test_is_over_by_the_number_of_files(self):
        for number in range(300):
            open(os.path.join(self.box.work, str(number)), "w").close()
        self.assertTrue(self.box.is_over(1, ()))
        self.assertFalse(self.box.is_over(2, ()))

    def test_is_over_by_a_file_that_is_deleted_and_still_open(self):
        with open(os.path.join(self.box.work, "hidden"), "wb") as file:
            file.write(b"x" * 3 * MB)
            file.flush()
            os.fsync(file.fileno())
            os.unlink(file.name)
            self.assertTrue(self.box.is_over(2, [os.getpid()]))
            self.assertFalse(self.box.is_over(4, [os.getpid()]))
            self.assertFalse(self.box.is_over(2, []))
        self.assertFalse(self.box.is_over(2, [os.getpid()]))

    @unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
    def test_does_not_take_a_process_that_hides_its_files_for_one_that_has_many(self):
        """A supervisor is no root: it does not see the files of a process whose first thread has ended."""
        for path in (os.path.dirname(self.box.root), self.box.root, self.box.work, self.box.temporary, self.box.shared):
            os.chmod(path, 0o777)
        pid = os.fork()
        if pid == 0:
            if os.getuid() == 0:
                os.setresuid(1_900_000_001, 1_900_000_001, 1_900_000_001)
            found = "over or not"
            headless = os.fork()
            if headless == 0:
                threading.Thread(target=signal.pause).start()
                LIBC.pthread_exit(None)
            while watch.stat_fields(headless)[0] != b"Z":
                os.sched_yield()
            try:
                self.box.is_over(2, [headless])
            except PermissionError:
                found = "hidden"
            os.kill(headless, signal.SIGKILL)
            os._exit(0 if found == "hidden" else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def map_hidden(self, keep_open):
        with open(os.path.join(self.box.work, "hidden"), "w+b") as file:
            file.truncate(4096)
            os.unlink(file.name)
            if keep_open:
                return mmap.mmap(file.fileno(), 4096)
            address = LIBC.mmap(None, 4096, 3, 1, file.fileno(), 0)
            self.addCleanup(LIBC.munmap, ctypes.c_void_p(address), ctypes.c_size_t(4096))

    def test_is_over_by_files_that_are_deleted_and_mapped_and_no_longer_open(self):
        self.map_hidden(keep_open=False)
        self.assertFalse(self.box.is_over(2, [os.getpid()]))
        self.map_hidden(keep_open=False)
        self.assertTrue(self.box.is_over(2, [os.getpid()]))

    def test_is_not_over_by_small_files_that_are_deleted_and_mapped_but_still_open(self):
        kept = [self.map_hidden(keep_open=True) for _ in range(10)]
        self.assertFalse(self.box.is_over(2, [os.getpid()]))
        for mapping in kept:
            mapping.close()

    def test_is_as_new_after_a_reset(self):
        os.makedirs(os.path.join(self.box.work, "a/b"))
        open(os.path.join(self.box.temporary, "file"), "w").close()
        os.chmod(self.box.work, 0o777)
        self.box.reset()
        self.assertEqual(sorted(os.listdir(self.box.root)), ["pungi-shm", "tmp", "work"])
        for path in (self.box.root, self.box.work, self.box.temporary):
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o700)
        self.assertEqual((os.listdir(self.box.work), os.listdir(self.box.temporary)), ([], []))

    def test_a_folder_that_became_a_link_is_not_followed(self):
        outside = os.path.join(os.path.dirname(self.box.root), "outside")
        os.mkdir(outside)
        open(os.path.join(outside, "kept"), "w").close()
        os.rmdir(self.box.work)
        os.symlink(outside, self.box.work)
        self.box.reset()
        self.assertEqual(os.listdir(outside), ["kept"])
        self.assertFalse(os.path.islink(self.box.work))

    def test_goes_when_it_is_removed(self):
        open(os.path.join(self.box.work, "file"), "w").close()
        self.box.remove()
        self.assertFalse(os.path.exists(self.box.root))


if __name__ == "__main__":
    unittest.main()
