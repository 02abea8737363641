import math
import os
import pathlib
import tempfile
import unittest
import venv

import python_half  # noqa: F401
from pungi.jail import system
from pungi.limits import processors
from serving import Server, tier_that_works


class Quota(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def quota(self, own, **files):
        """`files`: what a cgroup file system holds, by path."""
        (self.root / "own").write_text(own)
        for path, text in files.items():
            file = self.root / "cgroup" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return processors.quota(self.root / "cgroup", self.root / "own")

    def test_is_the_smallest_of_a_cgroup_and_those_above_it(self):
        files = {"cpu.max": "max 100000", "a/cpu.max": "150000 100000", "a/b/cpu.max": "400000 100000"}
        self.assertEqual(self.quota("0::/a/b\n", **files), 1.5)

    def test_is_found_where_a_container_sees_its_cgroup_as_the_root(self):
        self.assertEqual(self.quota("0::/docker/1234\n", **{"cpu.max": "200000 100000"}), 2)

    def test_is_read_from_version_1(self):
        files = {"cpu,cpuacct/x/cpu.cfs_quota_us": "50000", "cpu,cpuacct/x/cpu.cfs_period_us": "100000"}
        self.assertEqual(self.quota("4:memory:/x\n3:cpu,cpuacct:/x\n", **files), 0.5)

    def test_may_be_missing(self):
        for text in ("max 100000", "-1 100000", "1 0", "", "x y z"):
            self.assertEqual(self.quota("0::/\n", **{"cpu.max": text}), math.inf)
        self.assertEqual(processors.quota("/nowhere", "/nowhere"), math.inf)


class Variables(unittest.TestCase):
    def test_are_not_set_where_libraries_find_the_number_by_themselves(self):
        affinity = len(os.sched_getaffinity(0))
        self.assertEqual(processors.variables(affinity), {} if affinity <= 16 else processors.variables(16))

    @unittest.skipIf(len(os.sched_getaffinity(0)) == 1, "there is nothing to bound")
    def test_bound_libraries_to_the_share(self):
        self.assertEqual(set(processors.variables(1).values()), {"1"})
        self.assertIn("OPENBLAS_NUM_THREADS", processors.variables(1))


_THREADED = """
import os, threading
stop = threading.Event()
thread = threading.Thread(target=stop.wait, daemon=True)
thread.start()
"""
_ENDS_THREADS = _THREADED + """
def end():
    stop.set()
    thread.join()
os.register_at_fork(before=end)
"""


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class Threads(unittest.TestCase):
    """Of libraries that are preloaded, as OpenBLAS starts them."""

    def test_that_end_before_a_fork_do_not_keep_a_module_from_being_preloaded(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            made = pathlib.Path(folder) / "env"
            venv.EnvBuilder(symlinks=True).create(made)
            (site,) = made.glob("lib/python*/site-packages")
            (site / "ends_threads.py").write_text(_ENDS_THREADS)
            (site / "keeps_threads.py").write_text(_THREADED)
            server = Server(tier_that_works(), ["ends_threads", "keeps_threads"], python=str(made / "bin" / "python"), isBare=False)
            self.addCleanup(server.close)
            code = "import sys\nprint([name for name in ('ends_threads', 'keeps_threads') if name in sys.modules])"
            self.assertEqual(server.park().run(code)["stdout"], b"['ends_threads']\n")


if __name__ == "__main__":
    unittest.main()
