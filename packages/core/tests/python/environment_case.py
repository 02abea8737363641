"""Fork servers of a real environment, in each tier that can be entered, with modules for them to preload."""

import os
import subprocess
import sys
import tempfile
import unittest

import python_half  # noqa: F401
from pungi.jail import system
from serving import SANDBOX_UID, Server

# The code of a module that says something to the guard in the name of the fork server.
TO_GUARD = (
    "import os, socket, stat\n"
    "for fd in range(3, 64):\n"
    "    try:\n"
    "        is_socket = stat.S_ISSOCK(os.fstat(fd).st_mode)\n"
    "    except OSError:\n"
    "        continue\n"
    "    if is_socket: socket.socket(fileno=os.dup(fd)).sendall(%s)\n"
)


def _tiers():
    found = []
    for tier in ("namespace", "landlock"):
        server = Server(tier, python=_interpreter())
        try:
            server.park().connection.close()
            found.append(tier)
        except (AssertionError, OSError):
            pass
        finally:
            server.close()
    return found


def _interpreter():
    """In the landlock tier the sandbox's user reads the host's own files: as root, one that everybody can read is needed."""
    if os.getuid() != 0:
        return sys.executable
    readable = subprocess.run([sys.executable, "-c", ""], user=SANDBOX_UID, capture_output=True, check=False) if _is_open(sys.executable) else None
    return sys.executable if readable and readable.returncode == 0 else "/usr/bin/python3"


def _is_open(path):
    return path == "/" or bool(os.stat(path).st_mode & 0o001) and _is_open(os.path.dirname(path))


@unittest.skipUnless(system.IS_LINUX, "fork servers of this kind are Linux's")
class EnvironmentCase(unittest.TestCase):
    # The name of each to its code.
    modules = {}

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="pungi-test-")
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.folder = os.path.join(folder.name, "venv")
        subprocess.run([_interpreter(), "-I", "-m", "venv", "--without-pip", cls.folder], check=True)
        library = os.path.join(cls.folder, "lib")
        cls.site = os.path.join(library, os.listdir(library)[0], "site-packages")
        for name, source in cls.modules.items():
            path = os.path.join(cls.site, name if "/" in name else f"{name}.py")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(source)
        cls.tiers = _tiers()
        assert cls.tiers, "no tier can be entered"

    def each_tier(self, *preload, **more):
        for tier in self.tiers:
            with self.subTest(tier=tier):
                server = Server(tier, preload, python=os.path.join(self.folder, "bin", "python"), isBare=False, **more)
                try:
                    yield server
                finally:
                    server.close()

    def loaded(self, server):
        """(what was preloaded, why others were not), when packages are loaded."""
        problems = {}
        while "ready" not in (said := server.hear()):
            self.assertNotIn("failed", said)
            problems[said["notPreloaded"]] = said["reason"]
        return list(said["preloaded"]), problems

    def assertRefused(self, name, reason, **more):
        for server in self.each_tier(name, "fine", **more):
            preloaded, problems = self.loaded(server)
            self.assertEqual(preloaded, ["fine"])
            self.assertRegex(problems.pop(name), reason)
            self.assertEqual(problems, {})
            answer = server.park().run(f"import sys\nprint('{name}' in sys.modules, 'fine' in sys.modules)")
            self.assertEqual(answer["stdout"], b"False True\n")
