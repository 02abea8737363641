"""What a run can ask about its interpreter, its variables and its commands, as in `python main.py`."""

import importlib.util
import json
import os
import pathlib
import tempfile
import unittest
import venv

from plain_case import PlainCase
from pungi.jail import no_pip, shared_names, system

_STATE = """
import locale, os, site, subprocess, sys, sysconfig
for name in ("flags", "argv", "warnoptions", "_xoptions", "dont_write_bytecode", "path", "prefix", "base_prefix",
             "exec_prefix", "base_exec_prefix", "executable", "pycache_prefix", "platlibdir"):
    print(name, getattr(sys, name))
print(subprocess._args_from_interpreter_flags())
print(site.getsitepackages(), site.PREFIXES, site.ENABLE_USER_SITE, site.USER_SITE, site.USER_BASE, site.getuserbase())
print(sysconfig.get_paths(), sorted(map(str, sysconfig.get_config_vars().items())))
print(locale.getpreferredencoding(), locale.getlocale(), locale.setlocale(locale.LC_ALL), open(os.devnull).encoding)
print(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), sys.getdefaultencoding(), os.device_encoding(1))
print(sorted(set(os.environ.items()) - {("_", os.environ.get("_"))}), oct(os.umask(0)))
print(os.cpu_count(), os.sched_getaffinity(0), sys.getrecursionlimit(), sys.getswitchinterval())
"""

_SAME = {
    "terminal sizes": "import os, shutil\nprint(shutil.get_terminal_size())\ntry: os.get_terminal_size()\nexcept OSError as error: print(error)",
    "the user": "import getpass, os, pathlib\nprint(getpass.getuser(), pathlib.Path.home(), os.path.expanduser('~/x'))",
    "commands": "import shutil\nprint([shutil.which(name) for name in ('python', 'python3', 'pip', 'pip3', 'pytest', 'sh')])",
    "modules beside the script": "import os\nopen('beside.py', 'w').write('x = 1')\nimport beside\nprint(sorted(os.listdir('__pycache__')))",
    "file modes": "import os\nopen('f', 'w').close()\nos.mkdir('d')\nprint(oct(os.stat('f').st_mode), oct(os.stat('d').st_mode))",
}

_COMMANDS = """
import os, subprocess, sys
with open(os.open("which", os.O_WRONLY | os.O_CREAT, 0o755), "w") as file:
    file.write("#!/usr/bin/env python3\\nimport sys\\nprint(sys.prefix, sys.version)\\n")
look = "import sys; print(sys.prefix, sys.version)"
for command in ([sys.executable, "-c", look], ["python", "-c", look], ["python3", "-c", look], ["./which"],
                ["sh", "-c", f"python -c '{look}'"], ["env", "python3.%d" % sys.version_info[1], "-c", look]):
    found = subprocess.run(command, capture_output=True, text=True)
    print(found.stdout.strip() == f"{sys.prefix} {sys.version}" or (command, found))
"""

_PROCESSES = """
import concurrent.futures, multiprocessing, sys
from multiprocessing import resource_tracker, shared_memory
def square(number):
    return number * number
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(4)))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        print(list(executor.map(square, range(4))))
    resource_tracker.ensure_running()
    block = shared_memory.SharedMemory(create=True, size=16)
    block.buf[0] = 7
    print(block.buf[0])
    block.close()
    block.unlink()
"""

_ENSUREPIP = """
import ensurepip, subprocess, sys
ended = subprocess.run([sys.executable, "-m", "ensurepip"], capture_output=True, text=True)
print(ended.returncode, ended.stdout, ended.stderr.splitlines()[0])
try:
    ensurepip.bootstrap()
except subprocess.CalledProcessError as error:
    print(error.returncode)
"""
_PIP = """
import importlib, subprocess, sys
for command in (["pip", "install", "x"], ["pip3", "list"], [sys.executable, "-m", "pip", "install", "x"], ["sh", "-c", "pip install x"]):
    ended = subprocess.run(command, capture_output=True, text=True)
    print(ended.returncode, ended.stdout + ended.stderr, end="")
try:
    import pip
except ModuleNotFoundError as error:
    print(error.name, error)
"""


class _Environment(PlainCase):
    def test_is_asked(self):
        self.assertAsPlain(_STATE)

    def test_is_used(self):
        for name, code in _SAME.items():
            with self.subTest(name):
                self.assertAsPlain(code)

    def test_its_commands_come_first(self):
        for _, printed in self.run_everywhere(_COMMANDS):
            self.assertEqual(printed, "True\n" * 6)

    def test_its_processes_start_without_noise(self):
        self.assertEqual(len([*self.run_everywhere(_PROCESSES)]), len(self.servers))

    def test_pip_says_who_installs_packages(self):
        sentence = no_pip.SENTENCE
        for _, printed in self.run_everywhere(_PIP):
            self.assertEqual(printed, f"1 ERROR: {sentence}\n" * 4 + f"pip {sentence}\n")

    def test_ensurepip_says_so_at_once(self):
        # The landlock tier may have another interpreter, which need not bring a pip.
        if "namespace" not in self.servers or not importlib.util.find_spec("ensurepip") or not importlib.util.find_spec("ensurepip._bundled"):
            self.skipTest("there is no ensurepip")
        answer = self.run_in(self.servers["namespace"], _ENSUREPIP)
        sentence = f"ERROR: {no_pip.SENTENCE}\n"
        self.assertEqual((answer["stdout"].decode(), answer["stderr"].decode()), (f"1  {sentence}1\n", sentence))

    def test_variables_are_those_of_a_user_in_the_environment(self):
        code = "import json, os, sys\nprint(json.dumps([dict(os.environ), sys.prefix, os.getcwd()]))"
        for _, printed in self.run_everywhere(code):
            variables, prefix, work = json.loads(printed)
            temporary = variables.pop("TMPDIR")
            self.assertTrue(temporary.endswith("/tmp"), temporary)
            self.assertEqual(variables, {
                "PATH": f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin", "VIRTUAL_ENV": prefix, "LANG": "C.UTF-8", "TERM": "dumb",
                "HOME": work, "PWD": work, "SHELL": "/bin/sh", "USER": "sandbox", "LOGNAME": "sandbox",
                "JE_ARROW_MALLOC_CONF": "background_thread:false", "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            })


class Bare(_Environment):
    """The default environment before anything is installed in it."""


class Named(_Environment):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        made = pathlib.Path(folder.name) / "env"
        venv.EnvBuilder(symlinks=True).create(made)
        (site,) = made.glob("lib/python*/site-packages")
        no_pip.write(made / "bin", site)
        shared_names.write(site)
        cls.settings = {"python": str(made / "bin" / "python"), "isBare": False}
        super().setUpClass()


@unittest.skipUnless(system.IS_LINUX, "the tiers are Linux's")
class Interpreter(PlainCase):
    """The interpreter itself, with its packages."""

    settings = {"isBare": False}

    def test_is_asked(self):
        self.assertAsPlain(_STATE)


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(map(loader.loadTestsFromTestCase, (Bare, Named, Interpreter)))


if __name__ == "__main__":
    unittest.main()
