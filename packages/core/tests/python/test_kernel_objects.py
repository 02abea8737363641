import ctypes
import fcntl
import os
import select
import signal
import socket
import tempfile
import threading
import unittest
from unittest import mock

import python_half  # noqa: F401
from child_case import Child
from pungi.limits import census, kernel_objects, watch

MB = 1024 * 1024
LIMITS = {"memoryMb": 16, "processes": 8, "openFiles": 256}


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class KernelObjects(unittest.TestCase):
    def held(self, *actions, has_namespaces=False, **limits):
        """What processes, one for each action, are found to hold."""
        objects = kernel_objects.KernelObjects(has_namespaces)
        taken = census.Census()
        pids = [Child(self, action, inherits=False).pid for action in actions]
        taken.take(pids)
        objects.held(taken, {**LIMITS, **limits}, is_thorough=False)
        taken.cpu_ms += 1000
        return objects.held(taken, {**LIMITS, **limits}, is_thorough=False)

    def test_an_ordinary_process_holds_little(self):
        self.assertIsNone(self.held(lambda: None))

    def test_a_process_whose_first_thread_has_ended_hides_what_it_holds(self):
        pid = os.fork()
        if pid == 0:
            threading.Thread(target=signal.pause).start()
            ctypes.CDLL(None).pthread_exit(None)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        while watch.stat_fields(pid)[0] != b"Z":
            os.sched_yield()
        taken = census.Census()
        taken.take([pid])
        self.assertTrue(taken.sample().is_headless)
        self.assertFalse(watch.is_ended(pid))
        objects = kernel_objects.KernelObjects(False)
        self.assertIn("first thread", objects.held(taken, LIMITS, is_thorough=False).what)

    def test_open_files_of_proc_keep_what_was_not_read(self):
        def open_them():
            return [open("/proc/self/maps") for _ in range(200)]

        self.assertIsNone(self.held(open_them))
        self.assertEqual(self.held(open_them, memoryMb=4).what, "200 open files of /proc")

    def test_watches_of_files_under_many_numbers(self):
        def watch_them():
            sets, ends = [select.epoll() for _ in range(20)], [end for _ in range(20) for end in os.pipe()]
            for number in range(100, 200):
                for end in ends:
                    os.dup2(end, number)
                    for each in sets:
                        each.register(number)
            return sets, ends

        found = self.held(watch_them)
        self.assertRegex(found.what, r"^\d{5} epoll watches$")
        self.assertGreater(found.size, 16 * MB)

    def test_no_run_has_more_watches_than_its_part_of_a_user_s(self):
        def watch_them():
            sets, end = [select.epoll() for _ in range(100)], os.pipe()
            for each in sets:
                each.register(end[0])
            return sets, end

        with mock.patch.object(kernel_objects, "_MOST_WATCHES", 50):
            self.assertEqual(self.held(watch_them).what, "100 epoll watches")

    def test_locks(self):
        def lock():
            file = tempfile.TemporaryFile()
            for start in range(2000, 0, -2):
                fcntl.lockf(file, fcntl.LOCK_EX, 1, start)
            return file

        self.assertIsNone(self.held(lock, memoryMb=4))
        self.assertEqual(self.held(lock, lock, memoryMb=1).what, "2000 record locks")

    def test_more_pipes_than_a_run_s_part_of_a_user_s(self):
        few, many = (lambda count=count: [os.pipe() for _ in range(count)] for count in (100, 150))
        self.assertIsNone(self.held(few, many, memoryMb=512))
        self.assertRegex(self.held(many, many, memoryMb=512).what, r"^30\d pipes$")

    def test_pipes_that_are_made_in_little_time_after_a_look(self):
        go, goes = os.pipe()
        done, is_done = os.pipe()

        def make_them():
            os.read(go, 1)
            kept = [os.pipe() for _ in range(100)]
            os.write(is_done, b"1")
            while kept:
                signal.pause()

        pids = [self.fork(make_them) for _ in range(3)]
        objects, taken, limits = kernel_objects.KernelObjects(False), census.Census(), {**LIMITS, "memoryMb": 512}
        taken.take(pids)
        self.assertIsNone(objects.held(taken, limits, is_thorough=True))
        os.write(goes, b"111")
        for _ in pids:
            os.read(done, 1)
        taken.take(pids)
        with mock.patch.object(kernel_objects, "_BYTES_PER_CPU_MS", 0):  # so little that no look is due
            self.assertRegex(objects.held(taken, limits, is_thorough=True).what, r"^30\d pipes$")

    def fork(self, action):
        pid = os.fork()
        if pid == 0:
            action()
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        return pid

    def test_descriptors_in_flight_hide_what_can_have_been_made_meanwhile(self):
        def send():
            here, there = socket.socketpair()
            socket.send_fds(here, [b"x"], [0])
            return here, there

        objects, taken = kernel_objects.KernelObjects(False), census.Census()
        taken.take([Child(self, send).pid])
        found = []
        for _ in range(20):
            taken.cpu_ms += 1000
            found.append(objects.held(taken, LIMITS, is_thorough=False))
        self.assertEqual(found, [None] * 20, "computing makes nothing")
        for _ in range(20):
            taken.cpu_ms += 1000
            taken.kernel_ms += 1000
            found.append(objects.held(taken, LIMITS, is_thorough=False))
        self.assertEqual(found[20:23], [None] * 3)
        self.assertEqual(found[-1].what, "1 descriptors in flight")

    def test_many_descriptors_in_flight(self):
        def send():
            here, there = socket.socketpair()
            for _ in range(35):
                socket.send_fds(here, [b"x"], [0, 0])
            return here, there

        self.assertEqual(self.held(send).what, "70 descriptors in flight")

    def test_mapped_areas_of_several_processes(self):
        def map_alternately():
            import ctypes

            libc = ctypes.CDLL(None)
            libc.mmap.restype = ctypes.c_void_p
            libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
            start = libc.mmap(None, 40_000 * 4096, 3, 0x4022, -1, 0)
            for page in range(0, 40_000, 2):
                libc.mprotect(ctypes.c_void_p(start + page * 4096), ctypes.c_size_t(4096), 1)

        self.assertIsNone(self.held(map_alternately))
        self.assertIn("mapped areas", self.held(map_alternately, map_alternately).what)

    def test_looks_again_only_when_enough_cpu_time_was_used(self):
        objects, taken = kernel_objects.KernelObjects(False), census.Census()
        taken.take([Child(self).pid])
        objects.held(taken, LIMITS, is_thorough=True)
        with mock.patch.object(kernel_objects, "_count", side_effect=AssertionError):
            self.assertIsNone(objects.held(taken, LIMITS, is_thorough=True))
            taken.cpu_ms += 1000
            taken.living = {pid: mock.Mock(cpu_ms=figures.cpu_ms + 1000, is_headless=False) for pid, figures in taken.living.items()}
            with self.assertRaises(AssertionError):
                objects.held(taken, LIMITS, is_thorough=False)

    def test_sockets_are_counted_until_their_last_byte_is_gone(self):
        objects, taken = kernel_objects.KernelObjects(True), census.Census()
        kept = []
        for _ in range(300):
            here, there = socket.socketpair()
            here.send(b"x")
            here.close()
            kept.append(there)
        found = objects.held(taken, LIMITS, is_thorough=True)
        for each in kept:
            each.close()
        self.assertGreaterEqual(int(found.what.split()[0]), 500)

    def test_unread_data_counts_wherever_a_run_was_when_the_clock_ticked(self):
        loopback = mock.Mock(pinned=lambda: 1 << 40)
        objects, taken = kernel_objects.KernelObjects(True, loopback), census.Census()
        taken.cpu_ms, taken.kernel_ms = 1000, 0
        self.assertIsNone(objects.held(taken, LIMITS, is_thorough=True))
        with socket.socket():
            self.assertEqual(objects.held(taken, LIMITS, is_thorough=True).what, "unread data of 1 sockets")


if __name__ == "__main__":
    unittest.main()
