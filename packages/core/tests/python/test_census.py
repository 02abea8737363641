import mmap
import os
import signal
import threading
import time
import unittest

import python_half  # noqa: F401
from child_case import Child
from pungi.limits import census, watch

MB = 1024 * 1024


def sample(*pids):
    return census.sample(pids)


def spend(milliseconds):
    until = time.process_time() + milliseconds / 1000
    while time.process_time() < until:
        pass


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class Sample(unittest.TestCase):
    def test_of_itself(self):
        seen = sample(os.getpid())
        self.assertGreaterEqual(seen.tasks, 1)
        self.assertGreater(seen.resident, 4 * MB)

    def test_threads_are_counted(self):
        before = sample(os.getpid()).tasks
        stop = threading.Event()
        threads = [threading.Thread(target=stop.wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            self.assertEqual(sample(os.getpid()).tasks, before + 3)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_grows_with_what_is_used(self):
        taken = census.Census()
        taken.take([os.getpid()])
        before = taken.sample()
        # Straight from the kernel: the allocator may have as much left over from tests before.
        with mmap.mmap(-1, 30 * MB) as kept:
            kept.write(b"x" * (30 * MB))
            taken.take([os.getpid()])
        self.assertGreater(taken.sample().resident - before.resident, 25 * MB)

    def test_a_process_that_is_gone_counts_as_nothing(self):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        self.assertEqual(sample(pid), (0, 0, 0, 0, False))

    def test_a_strange_name_is_no_trouble(self):
        def rename():
            with open("/proc/self/comm", "w") as file:
                file.write(") R 1 (2 3")

        self.assertEqual(sample(Child(self, rename).pid).tasks, 1)

    def test_a_process_that_has_not_worked_is_read_again_only_afresh(self):
        pid = Child(self).pid
        taken = census.Census()
        taken.take([pid])
        seen = taken.living[pid]
        taken.take([pid])
        self.assertIs(taken.living[pid], seen)
        taken.take([pid], afresh=True)
        self.assertIsNot(taken.living[pid], seen)


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class SharedMemory(unittest.TestCase):
    """Of processes that were forked with 40 MB, which each of them seems to have."""

    def setUp(self):
        shared = self.kept = bytearray(40 * MB)
        alone = watch.exact_memory([os.getpid()])
        read, self.write = os.pipe()
        self.done, done = os.pipe()

        def overwrite_when_told():
            if os.read(read, 1) == b"w":
                for start in range(0, len(shared), mmap.PAGESIZE):
                    shared[start] = 1
            os.write(done, b"1")

        self.pids = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                overwrite_when_told()
                signal.pause()
            self.pids.append(pid)
        self.addCleanup(self.end)
        self.census = census.Census()
        self.census.take(self.pids)
        exact = watch.exact_memory(self.pids)
        self.assertLess(exact, alone + 40 * MB)
        self.assertGreater(self.census.sample().anonymous, 160 * MB)
        self.measured = census.Measured(exact, self.census.living)
        self.exact = exact

        for fd in (read, done):
            os.close(fd)

    def end(self):
        for fd in (self.write, self.done):
            os.close(fd)
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def tell(self, word):
        os.write(self.write, word)
        os.read(self.done, 1)
        self.census.take(self.pids)

    def test_is_not_more_while_they_only_work(self):
        self.tell(b"n")
        self.assertLess(self.measured.most(self.census.living), self.exact + 8 * MB)

    def test_is_more_when_one_of_them_writes_to_it_though_its_size_stays(self):
        before = self.census.sample().anonymous
        self.tell(b"w")
        self.assertLess(self.census.sample().anonymous, before + 8 * MB)
        self.assertGreaterEqual(self.measured.most(self.census.living), self.exact + 40 * MB)
        self.assertGreaterEqual(self.measured.most(self.census.living), watch.exact_memory(self.pids))

    def test_is_more_by_all_of_a_new_process(self):
        child = Child(self)
        self.census.take([*self.pids, child.pid])
        self.assertGreater(self.measured.most(self.census.living), self.exact + 40 * MB)


@unittest.skipUnless(watch.HAS_PROC, "there is no /proc here")
class CpuTime(unittest.TestCase):
    def setUp(self):
        self.census = census.Census()

    def total_ms(self, *pids, collected_ms=0.0):
        self.census.take(pids, collected_ms)
        return self.census.cpu_ms

    def test_grows_with_what_is_used(self):
        before = self.total_ms(os.getpid())
        self.assertGreater(before, 0)
        spend(50)
        self.assertGreaterEqual(self.total_ms(os.getpid()), before + 50)

    def test_several_are_added(self):
        children = [Child(self, lambda: spend(60)).pid for _ in range(2)]
        self.assertGreaterEqual(self.total_ms(*children), 120)

    def test_one_that_is_gone_keeps_at_least_the_figure_that_was_last_seen(self):
        pid = os.fork()
        if pid == 0:
            spend(60)
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
        os.waitpid(pid, os.WUNTRACED)
        seen = self.total_ms(pid)
        self.assertGreaterEqual(seen, 60)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        for pids in ([pid], [], [pid]):
            self.assertGreaterEqual(self.total_ms(*pids), seen)

    def test_children_that_were_waited_for_count_with_their_parent(self):
        def have_had_a_child():
            pid = os.fork()
            if pid == 0:
                spend(100)
                os._exit(0)
            os.waitpid(pid, 0)

        parent = Child(self, have_had_a_child)
        self.assertGreaterEqual(self.total_ms(parent.pid), 80)

    def test_a_child_that_was_seen_and_then_waited_for_counts_once(self):
        pid = os.fork()
        if pid == 0:
            spend(200)
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
        os.waitpid(pid, os.WUNTRACED)
        before = self.total_ms(os.getpid(), pid)
        os.kill(pid, signal.SIGCONT)
        os.waitpid(pid, 0)
        self.assertLess(self.total_ms(os.getpid()), before + 100)

    def test_those_that_we_collected_count_also_if_they_were_never_seen(self):
        before = self.total_ms(os.getpid())
        self.assertGreaterEqual(self.total_ms(os.getpid(), collected_ms=before + 500), before + 500)

    def test_short_lives_that_nobody_waits_for_are_counted_by_those_that_are_seen(self):
        ended = 0
        while self.census.cpu_ms < 800:
            self.assertLess(ended, 1000, "of two seconds of CPU time less than half was counted")
            pid = os.fork()
            if pid == 0:
                spend(1)
                os.kill(os.getpid(), signal.SIGSTOP)
                spend(1)
                os._exit(0)
            if ended % 5 == 0:
                # Seen once, at work, in the middle of its life: as one look in ten milliseconds sees one of five.
                os.waitpid(pid, os.WUNTRACED)
                os.kill(pid, signal.SIGCONT)
                self.census.take([pid])
            else:
                os.waitpid(pid, os.WUNTRACED)
                os.kill(pid, signal.SIGCONT)
            os.waitpid(pid, 0)
            ended += 1


if __name__ == "__main__":
    unittest.main()
