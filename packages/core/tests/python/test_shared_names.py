"""Named semaphores and shared memory in a folder, in an interpreter that a run has started."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import venv

import python_half  # noqa: F401
from pungi.jail import shared_names, system

_LOOK = """
import _multiprocessing, os, sys, types
print(not isinstance(_multiprocessing.sem_unlink, types.BuiltinFunctionType), "ctypes" in sys.modules)
"""
_USE = """
import multiprocessing, os, sys
from multiprocessing import shared_memory
context = multiprocessing.get_context("spawn")
locks = [context.Lock() for _ in range(3000)]
places = sorted(lock._semlock.handle for lock in locks)
print(len(set(places)), min(b - a for a, b in zip(places, places[1:])))
memory = shared_memory.SharedMemory("name", create=True, size=10)
print(sorted(name.partition("-")[0] for name in os.listdir(sys.argv[1]))[:3])
memory.unlink()
locks.clear()
print(os.listdir(sys.argv[1]))
"""


@unittest.skipUnless(system.IS_LINUX, "only the landlock tier has such a folder")
class InterpreterOfARun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.shared = self.folder / shared_names.FOLDER
        for name in ("tmp", "work", self.shared):
            (self.folder / name).mkdir(0o700)
        venv.EnvBuilder(symlinks=True).create(self.folder / "env")
        (self.site,) = self.folder.glob("env/lib/python*/site-packages")
        shared_names.write(self.site)

    def python(self, code, *arguments, **variables):
        command = [self.folder / "env" / "bin" / "python", "-c", code, *arguments]
        ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def test_finds_the_folder_beside_its_temporary_or_its_home_folder(self):
        for variables in ({"TMPDIR": f"{self.folder}/tmp"}, {"HOME": f"{self.folder}/work"}, {"TMPDIR": "/", "HOME": f"{self.folder}/work"}):
            self.assertEqual(self.python(_LOOK, **variables), "True False\n", variables)

    def test_is_left_alone_where_there_is_no_such_folder(self):
        for variables in ({}, {"TMPDIR": "/tmp"}, {"TMPDIR": "", "HOME": "/"}, {"TMPDIR": str(self.folder)}):
            self.assertEqual(self.python(_LOOK, **variables), "False False\n", variables)

    def test_is_left_alone_where_others_can_write_to_the_folder_or_choose_it(self):
        self.shared.chmod(0o777)
        self.assertEqual(self.python(_LOOK, TMPDIR=f"{self.folder}/tmp"), "False False\n")
        self.shared.rename(self.folder / "elsewhere")
        (self.folder / "elsewhere").chmod(0o700)
        self.shared.symlink_to("elsewhere")
        self.assertEqual(self.python(_LOOK, TMPDIR=f"{self.folder}/tmp"), "False False\n")

    @unittest.skipUnless(os.getuid() == 0, "only root can give a folder away")
    def test_is_left_alone_where_the_folder_is_of_another_user(self):
        os.chown(self.shared, 12345, 12345)
        self.assertEqual(self.python(_LOOK, TMPDIR=f"{self.folder}/tmp"), "False False\n")

    def test_has_each_semaphore_in_a_place_of_its_own_and_leaves_no_name(self):
        printed = self.python(_USE, str(self.shared), TMPDIR=f"{self.folder}/tmp")
        self.assertEqual(printed, "3000 64\n['.semaphores', 'name', 'sem.mp']\n['.semaphores']\n")

    def test_replaces_its_files_and_leaves_those_that_environments_share(self):
        for name in ("_pungi_shm.py", "_pungi_shm.pth"):
            (self.site / name).write_text("old")
            os.link(self.site / name, self.folder / name)
        shared_names.write(self.site)
        for name in ("_pungi_shm.py", "_pungi_shm.pth"):
            self.assertEqual((self.folder / name).read_text(), "old")
            self.assertNotEqual((self.site / name).read_text(), "old")


if __name__ == "__main__":
    unittest.main()
