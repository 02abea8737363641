import os
import signal
import socket
import tempfile
import time
import unittest
from unittest import mock

import python_half  # noqa: F401
from child_case import Child
from pungi.limits import watch

MB = 1024 * 1024


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class Memory(unittest.TestCase):
    def test_memory_of_a_fork_is_counted_once(self):
        kept = b"x" * (40 * MB)
        own = watch.exact_memory([os.getpid()])
        children = [Child(self).pid for _ in range(3)]
        together = watch.exact_memory([os.getpid(), *children])
        self.assertGreater(own, 40 * MB)
        self.assertLess(together, own + 30 * MB)
        del kept

    def test_memory_of_several_is_added(self):
        children = [Child(self, lambda: b"x" * (20 * MB)).pid for _ in range(3)]
        self.assertGreater(watch.exact_memory(children), 60 * MB)

    def test_the_clock_of_a_process_is_exact(self):
        spent = time.process_time() * 1000
        seen = watch.cpu_clock_ms(os.getpid())
        self.assertLessEqual(spent, seen)
        self.assertLessEqual(seen, time.process_time() * 1000)


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class Tree(unittest.TestCase):
    def test_children_and_grandchildren_are_found(self):
        numbers, number = os.pipe()

        def have_a_child():
            if (pid := os.fork()) == 0:
                while True:
                    signal.pause()
            os.write(number, f"{pid}\n".encode())
            return pid

        child = Child(self, have_a_child)
        grandchild = int(os.read(numbers, 100))
        os.close(numbers)
        os.close(number)
        self.addCleanup(os.kill, grandchild, signal.SIGKILL)
        self.assertIn(child.pid, watch.children_of(os.getpid()))
        self.assertNotIn(grandchild, watch.children_of(os.getpid()))
        self.assertTrue({child.pid, grandchild} <= set(watch.descendants_of(os.getpid())))

    def test_a_process_that_is_gone_has_none(self):
        self.assertEqual(watch.descendants_of(2**22 + 1), [])

    def test_tasks_of_a_user(self):
        before = watch.tasks_of_user(os.getuid())
        self.assertGreaterEqual(before, 1)
        self.assertEqual(watch.tasks_of_user(1_999_999_999), 0)


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class Buffers(unittest.TestCase):
    ONE_SOCKET = 212992

    def sockets(self, pairs):
        """A process that holds so many pairs."""
        return Child(self, lambda: [socket.socketpair() for _ in range(pairs)]).pid

    def test_of_sockets_in_all_processes_are_counted_at_their_largest(self):
        pids = [self.sockets(40), self.sockets(40)]
        seen = watch.most_in_buffers(pids, 20 * MB)
        self.assertGreater(seen, 20 * MB)

    def test_that_forked_processes_share_are_counted_once(self):
        kept = [socket.socketpair() for _ in range(40)]
        pids = [Child(self).pid for _ in range(3)]
        for pair in kept:
            for end in pair:
                end.close()
        seen = watch.buffers(pids)
        self.assertGreaterEqual(seen, 80 * self.ONE_SOCKET)
        self.assertLess(seen, 120 * self.ONE_SOCKET)

    def test_few_descriptors_are_not_looked_at(self):
        pid = self.sockets(4)
        with mock.patch.object(watch, "buffers", side_effect=AssertionError):
            self.assertEqual(watch.most_in_buffers([pid], 64 * MB), 0)

    def test_no_more_is_looked_at_than_passes_the_limit(self):
        pids = [self.sockets(40) for _ in range(4)]
        with mock.patch.object(os, "stat", side_effect=os.stat) as looks:
            seen = watch.most_in_buffers(pids, 10 * self.ONE_SOCKET)
        self.assertGreater(seen, 10 * self.ONE_SOCKET)
        self.assertLessEqual(seen, 11 * self.ONE_SOCKET)
        # One look at each process, one at each socket up to the limit, and a few at what else the first one has open.
        self.assertLess(looks.call_count, 4 + 11 + 20)

    def test_files_are_no_buffers(self):
        with tempfile.TemporaryDirectory() as folder:
            pid = Child(self, lambda: [open(os.path.join(folder, str(n)), "w") for n in range(90)]).pid
            self.assertLess(watch.most_in_buffers([pid], 15 * MB), 15 * MB)

    def test_of_a_process_that_is_gone_are_none(self):
        self.assertEqual(watch.most_in_buffers([2**22 + 1], 0), 0)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = folder.name

    def write(self, name, size):
        path = os.path.join(self.base, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"x" * size)
            os.fsync(file.fileno())

    def test_counts_files_in_all_folders(self):
        self.write("a", MB)
        self.write("b/c/d", MB)
        size, entries = watch.folder_usage(self.base, 1000)
        self.assertGreaterEqual(size, 2 * MB)
        self.assertLess(size, 3 * MB)
        self.assertEqual(entries, 4)

    def test_does_not_follow_links(self):
        os.symlink("/usr", os.path.join(self.base, "link"))
        self.assertEqual(watch.folder_usage(self.base, 1000)[1], 1)

    def test_stops_at_the_limit(self):
        for number in range(50):
            self.write(f"{number}/file", 1)
        size, entries = watch.folder_usage(self.base, 10)
        self.assertGreater(entries, 10)
        self.assertLess(entries, 100)

    def test_a_hole_is_not_counted(self):
        with open(os.path.join(self.base, "sparse"), "wb") as file:
            file.truncate(100 * MB)
        self.assertLess(watch.folder_usage(self.base, 1000)[0], MB)

    def test_what_is_nested_beyond_the_length_of_a_path_is_too_much(self):
        name = "n" * 200
        folder = os.open(self.base, os.O_RDONLY)
        for _ in range(30):
            os.mkdir(name, dir_fd=folder)
            inner = os.open(name, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        with open(os.open("large", os.O_WRONLY | os.O_CREAT, dir_fd=folder), "wb") as file:
            file.write(b"x" * 4 * MB)
            file.flush()
            os.fsync(file.fileno())
        os.close(folder)
        self.addCleanup(_remove, self.base)
        self.assertGreater(watch.folder_usage(self.base, 1000)[1], 1000)

    @unittest.skipIf(os.getuid() == 0, "root can read every folder")
    def test_a_closed_folder_is_opened_but_not_one_that_a_link_leads_to(self):
        self.write("closed/file", MB)
        os.mkdir(os.path.join(self.base, "foreign"), 0)
        os.symlink("foreign", os.path.join(self.base, "link"))
        os.chmod(os.path.join(self.base, "closed"), 0)
        self.assertGreaterEqual(watch.folder_usage(os.path.join(self.base, "closed"), 1000)[0], MB)
        self.assertEqual(watch.folder_usage(os.path.join(self.base, "link"), 1000), (0, 0))
        self.assertEqual(os.stat(os.path.join(self.base, "foreign")).st_mode & 0o777, 0)

    def test_links_that_take_the_place_of_folders_while_they_are_counted_are_not_followed(self):
        outside = tempfile.TemporaryDirectory()
        self.addCleanup(outside.cleanup)
        closed = os.path.join(outside.name, "closed")
        os.makedirs(os.path.join(closed, "inner"))
        for number in range(50):
            open(os.path.join(outside.name, f"{number}"), "w").close()
        os.chmod(closed, 0)
        self.addCleanup(os.chmod, closed, 0o700)
        inside = [os.path.join(self.base, name) for name in ("one", "two")]
        for folder in inside:
            os.makedirs(os.path.join(folder, "inner"))
        # A thread would take turns with the one that counts; a process does not.
        for folder, target in zip(inside, (outside.name, closed)):
            Child(self, lambda folder=folder, target=target: _exchange(folder, target))
        self.addCleanup(_end_descendants)
        for _ in range(5000):
            self.assertLess(watch.folder_usage(self.base, 20)[1], 12)

    def test_a_folder_that_is_gone_is_empty(self):
        self.assertEqual(watch.folder_usage(os.path.join(self.base, "gone"), 10), (0, 0))


def _end_descendants():
    """Before their folders are removed."""
    pids = watch.descendants_of(os.getpid())
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    while not all(watch.is_ended(pid) for pid in pids):
        pass


def _exchange(folder, target):
    """Forever: the folder, and a link to the target in its place."""
    os.symlink(target, folder + ".link")
    if os.fork() == 0:
        signal.alarm(20)
        parent = os.getppid()
        while os.getppid() == parent:
            os.rename(folder, folder + ".aside")
            os.rename(folder + ".link", folder)
            os.rename(folder, folder + ".link")
            os.rename(folder + ".aside", folder)
        os._exit(0)


def _remove(path):
    from pungi.jail import box

    box.remove_tree(path)
    os.mkdir(path)


if __name__ == "__main__":
    unittest.main()
