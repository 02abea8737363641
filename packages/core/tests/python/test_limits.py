import os
import threading
import time
import unittest
from unittest import mock

import python_half  # noqa: F401
from child_case import Child
from pungi.limits import limits, watch
from pungi.limits.census import Census, Sample
from pungi.limits.glance import Glance
from pungi.limits.kernel_objects import Held

MB = 1024 * 1024
# The process that is looked at is that of the tests, and children of earlier tests count as its CPU time.
LIMITS = {"timeoutMs": 60_000, "cpuMs": 36_000_000, "memoryMb": 64, "processes": 8, "diskMb": 16}


class Box:
    def __init__(self):
        self.walks = 0
        self.has_grown = self.is_hidden = False

    def is_over(self, limit_mb, pids):
        self.walks += 1
        if self.is_hidden:
            raise PermissionError
        return False

    def may_be_over(self, limit_mb):
        return self.has_grown


class Reaper:
    orphans_ms, glance = 0.0, None

    def __init__(self, pids):
        self.pids = pids

    def collect_orphans(self):
        pass

    def processes(self):
        return self.pids


class Objects:
    found = None

    def held(self, census, limits, is_thorough):
        return self.found


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class LimitKeeper(unittest.TestCase):
    """What is looked at, and in which order; real figures of real runs are in the attack table."""

    def setUp(self):
        self.box = Box()
        self.use = Sample(tasks=2, resident=30 * MB, anonymous=20 * MB, most_tables=0)
        self.objects = Objects()
        self.exact, self.growth = 10 * MB, 0
        self.now = time.monotonic()
        for target, name, action in (
            (Census, "sample", lambda census: self.use),
            (time, "monotonic", lambda: self.now),
            (limits, "Measured", lambda size, living: mock.Mock(most=lambda living: size + self.growth)),
        ):
            patch = mock.patch.object(target, name, action)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch.object(watch, "exact_memory", side_effect=lambda pids: self.exact)
        self.exact_looks = patch.start()
        self.addCleanup(patch.stop)

    def keeper(self, processes=2):
        pids = [os.getpid()] * processes
        return limits.LimitKeeper(LIMITS, os.getpid(), Reaper(pids), self.box, self.objects)

    def look(self, keeper, milliseconds=10):
        self.now += milliseconds / 1000
        return keeper.check()

    def test_nobody_looks_before_it_is_time(self):
        keeper = self.keeper()
        self.objects.found = Held(100 * MB, "500 sockets")
        self.assertIsNone(self.look(keeper, 5))
        self.assertEqual(self.look(keeper, 6), "memory")

    def test_a_deadline_comes_first(self):
        self.assertEqual(self.look(self.keeper(), 60_000), "timeout")

    def test_too_many_processes_are_not_looked_at(self):
        with mock.patch.object(Census, "take", side_effect=AssertionError):
            self.assertEqual(self.look(self.keeper(processes=9)), "processes")

    def test_too_many_threads(self):
        self.use = self.use._replace(tasks=9)
        self.assertEqual(self.look(self.keeper()), "processes")

    def test_what_the_kernel_keeps_is_told_before_anything_slow_is_read(self):
        keeper = self.keeper()
        self.objects.found = Held(65 * MB, "400 sockets")
        self.assertEqual((self.look(keeper), keeper.held), ("memory", "400 sockets"))
        self.assertEqual((self.exact_looks.call_count, self.box.walks), (0, 0))
        self.assertEqual(keeper.peak, 65 * MB)

    def test_files_that_nobody_can_see_are_not_called_a_full_disk(self):
        keeper = self.keeper()
        self.box.is_hidden = True
        self.assertEqual(self.look(keeper), "memory")
        self.assertIn("does not show its files", keeper.held)

    def test_of_many_processes_exact_figures_are_read_from_time_to_time(self):
        keeper = self.keeper()
        for _ in range(5):
            self.assertIsNone(self.look(keeper))
        self.assertEqual((self.exact_looks.call_count, self.box.walks), (1, 1))
        self.assertIsNone(self.look(keeper, 100))
        self.assertEqual((self.exact_looks.call_count, self.box.walks), (1, 2))
        self.growth = 1
        self.assertIsNone(self.look(keeper, 100))
        self.assertEqual((self.exact_looks.call_count, self.box.walks), (2, 3))
        self.assertEqual(keeper.peak, 10 * MB)

    def test_and_at_once_where_the_limit_may_be_passed(self):
        keeper = self.keeper()
        self.look(keeper)
        self.use = self.use._replace(anonymous=63 * MB, most_tables=2 * MB)
        self.assertIsNone(self.look(keeper))
        self.assertEqual(self.exact_looks.call_count, 1)
        self.growth = 60 * MB
        self.assertIsNone(self.look(keeper))
        self.assertEqual(self.exact_looks.call_count, 2)
        self.exact = 65 * MB
        self.assertEqual(self.look(keeper), "memory")

    def test_memory_that_is_not_resident_is_found_by_the_next_exact_look(self):
        keeper = self.keeper()
        self.look(keeper)
        self.exact, self.growth = 65 * MB, 1  # swapped out
        self.assertIsNone(self.look(keeper))
        self.assertEqual(self.look(keeper, 100), "memory")

    def test_a_disk_that_has_lost_much_since_the_last_look_is_looked_at(self):
        keeper = self.keeper()
        self.look(keeper)
        self.look(keeper)
        self.assertEqual(self.box.walks, 1)
        self.box.has_grown = True
        self.look(keeper)
        self.assertEqual(self.box.walks, 2)

    def test_one_process_that_is_small_needs_no_exact_figures(self):
        keeper = self.keeper(processes=1)
        self.assertIsNone(self.look(keeper, 100))
        self.assertEqual((self.exact_looks.call_count, keeper.peak), (0, 30 * MB))

    def test_one_process_that_may_be_too_large_is_looked_at(self):
        keeper = self.keeper(processes=1)
        self.use = self.use._replace(resident=80 * MB)
        self.assertIsNone(self.look(keeper))
        self.exact, self.growth = 70 * MB, 60 * MB
        self.assertEqual(self.look(keeper), "memory")
        self.assertEqual(keeper.peak, 70 * MB)


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class Quiet(unittest.TestCase):
    """A run that hardly works is looked at less often, while it is one process."""

    def check(self, what=lambda: None):
        """Returns what a keeper that allows one process reports soon after a process has done this."""
        worker = Child(self, what).pid
        reaper = Reaper([worker, *watch.descendants_of(worker)])
        reaper.glance = Glance(worker, [])
        self.addCleanup(reaper.glance.close)
        keeper = limits.LimitKeeper({**LIMITS, "processes": 1}, worker, reaper, Box(), Objects())
        time.sleep(0.02)
        return keeper.check()

    def test_one_process_is_not_looked_at(self):
        with mock.patch.object(limits.LimitKeeper, "_look", side_effect=AssertionError):
            self.assertIsNone(self.check())

    def test_a_process_stands_for_the_time_since_the_run_was_seen_alone(self):
        """And not since the last sample: a run that starts a program now and then would seem to work all the time."""
        worker = Child(self).pid
        reaper, now = Reaper([worker]), time.monotonic()
        reaper.glance = mock.Mock(is_single=lambda: True, cpu_ms=lambda: 0.0)
        with mock.patch.object(time, "monotonic", lambda: now):
            keeper = limits.LimitKeeper(LIMITS, worker, reaper, Box(), Objects())
            for _ in range(9):
                now += 0.010
                self.assertIsNone(keeper.check())
            now += 0.001
            reaper.glance.is_single = lambda: False
            program = Child(self, _compute_in_thread).pid
            reaper.pids = [worker, program]
            now += 0.010
            self.assertIsNone(keeper.check())
        self.assertLessEqual(keeper._census.living[program].unseen_ms, 11 * (os.cpu_count() or 1))

    def test_a_process_that_it_has_forked_is_seen(self):
        self.assertEqual(self.check(_fork), "processes")

    def test_a_process_that_one_of_its_threads_has_forked_is_seen(self):
        self.assertEqual(self.check(_fork_in_thread), "processes")


def _compute_in_thread():
    def compute():
        while True:
            pass

    threading.Thread(target=compute, daemon=True).start()


def _fork():
    worker = os.getpid()
    if os.fork() == 0:
        while os.getppid() == worker:
            time.sleep(0.01)
        os._exit(0)


def _fork_in_thread():
    has_forked = threading.Event()
    threading.Thread(target=lambda: (_fork(), has_forked.set(), time.sleep(60)), daemon=True).start()
    has_forked.wait()


if __name__ == "__main__":
    unittest.main()
