"""The file that the fork server's memory is moved into: runs have it in common, and the guard lends it."""

import mmap
import unittest
from unittest import mock

from environment_case import TO_GUARD, EnvironmentCase
from child_case import Child
from pungi.limits import free_memory, load_limits
from serving import LOADING

# Asks the guard for files in the name of the fork server.
_ASKING = TO_GUARD % "b'{\"memory\": %d}\\n' * 2" + (
    "    if is_socket: first, *others = [f for _ in 'ab' for f in socket.recv_fds(socket.socket(fileno=os.dup(fd)), 15, 1)[1]]\n"
)
MODULES = {
    "fine": "a = 1",
    "large": "data = [[number] for number in range(600_000)]",
    "mapping": (
        "import mmap\n"
        "kept = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "kept[:] = b'x' * len(kept)"
    ),
    "asking": _ASKING % (1 << 20) + (
        "try:\n"
        "    os.ftruncate(first, 2 << 20)\n"
        "except OSError as error:\n"
        "    said = error.strerror\n"
    ),
    "asking_and_hungry": _ASKING % (800 << 20) + "kept = bytearray(b'x' * (300 << 20))",
    "asking_and_gone": TO_GUARD % "b'{\"memory\": 4096}\\n'" + "os._exit(3)",
    "asking_and_deaf": TO_GUARD % "b'{\"memory\": 4096}\\n' * 4000" + "import time\ntime.sleep(1)",
    "asking_with_others": "import os, time\nif os.fork() == 0:\n    time.sleep(60)\n" + _ASKING % (1 << 20),
}


class MemoryFile(EnvironmentCase):
    modules = MODULES

    def test_memory_of_packages_is_in_a_file_that_runs_have_in_common(self):
        # Nor do limits of files hold for it.
        for server in self.each_tier("fine", diskMb=8):
            self.loaded(server)
            answer = server.park().run("import fine\nfine.a += 1\nprint(fine.a, '/memfd:memory' in open('/proc/self/maps').read())")
            self.assertEqual(answer["stdout"], b"2 True\n")
            answer = server.park().run("import fine\nprint(fine.a)")
            self.assertEqual(answer["stdout"], b"1\n")

    def test_memory_of_packages_that_a_run_reads_is_none_that_it_took(self):
        # Objects of a process that took much memory are left to the kernel.
        code = "import large\nclass Ending:\n    def __del__(self): print('ended')\nkept = [Ending()]\nprint(sum(map(len, large.data)))"
        for server in self.each_tier("large"):
            self.loaded(server)
            self.assertEqual(server.park().run(code)["stdout"], b"600000\nended\n")

    def test_code_and_constants_of_a_library_are_one_mapping(self):
        code = (
            "import collections, re\n"
            "found = re.findall(r'-([0-9a-f]+) (\\S+) \\S+ \\S+ [1-9]\\d* +(/\\S+[.]so\\S*)', open('/proc/self/maps').read())\n"
            "print({access for _, access, _ in found}, max(collections.Counter(path for *_, path in found).values()) <= 2, len(found) > 5)"
        )
        for server in self.each_tier("fine"):
            self.loaded(server)
            self.assertEqual(server.park().run(code)["stdout"], b"{'r-xp'} True True\n")

    def test_the_interpreters_code_is_in_huge_pages_that_runs_have_in_common(self):
        code = (
            "import re\n"
            "print(len(re.findall(' r-xp .*/memfd:memory', open('/proc/self/maps').read())))\n"
            "try:\n"
            "    smaps = open('/proc/self/smaps').read()\n"
            "except OSError:\n"
            "    smaps = ''\n"
            "print(*re.findall(r' r-xp .*/memfd:memory.*\\n(?:[A-Z].*\\n)*?ShmemPmdMapped: +(\\d+)', smaps))"
        )
        for server in self.each_tier("fine"):
            self.loaded(server)
            mappings, huge = server.park().run(code)["stdout"].splitlines()
            self.assertEqual(int(mappings), 1)
            if huge:  # the landlock tier does not show it
                self.assertEqual(int(huge) > 0, _makes_huge_pages())

    def test_memory_that_packages_have_mapped_stays_theirs(self):
        for server in self.each_tier("mapping"):
            self.assertEqual(self.loaded(server), (["mapping"], {}))
            answer = server.park().run("import mapping, mmap\nmapping.kept.madvise(mmap.MADV_DONTNEED)\nprint(mapping.kept[0])")
            self.assertEqual(answer["stdout"], b"0\n")

    def test_packages_that_ask_for_a_file_get_one_of_fixed_size_which_counts_as_their_memory(self):
        for server in self.each_tier("asking"):
            self.assertEqual(self.loaded(server), (["asking"], {}))
            answer = server.park().run("import asking\nprint(asking.others, asking.said)")
            self.assertEqual(answer["stdout"], b"[] Operation not permitted\n")
        self.assertRefused("asking_and_hungry", "took more than 1024 MB of memory")

    def test_packages_that_ask_and_do_not_listen_do_not_end_the_guard(self):
        self.assertRefused("asking_and_gone", "it ended the interpreter")
        for server in self.each_tier("asking_and_deaf"):
            self.assertEqual(server.hear()["byPackages"], True)
            self.assertEqual(server.process.wait(20), 75)

    def test_packages_are_loaded_where_no_memory_is_left_for_a_copy_of_theirs(self):
        with mock.patch.object(free_memory, "free", lambda: 65 << 20):
            limits = load_limits.LoadLimits({**LOADING, "diskMb": 16}, "/nowhere")
            child = Child(self, inherits=False).pid
            self.assertEqual([limits.lends(child, size << 20) for size in (2, 1)], [False, True])

    def test_packages_get_no_file_while_processes_of_theirs_are_running(self):
        self.assertRefused("asking_with_others", "not enough values to unpack")


def _makes_huge_pages():
    """Whether the kernel does, when it is asked to."""
    try:
        area = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        area[:] = b"x" * len(area)
        area.madvise(25)  # MADV_COLLAPSE
        with open("/sys/kernel/mm/transparent_hugepage/shmem_enabled", encoding="ascii") as file:
            return "[deny]" not in file.read()
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
