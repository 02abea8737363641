"""What /proc says of a run's process."""

import unittest

from plain_case import PlainCase

_SHOW = """
import sys
print(open("/proc/self/cmdline").read().split("\\0"), open("/proc/self/comm").read().strip(), sys.orig_argv)
"""
_VARIABLES = """
import os
shown = open("/proc/self/environ").read().rstrip("\\0").split("\\0")
print(sorted(shown) == sorted(map("=".join, os.environ.items())))
"""
_MOVE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print([libc.prctl(35, ctypes.c_ulong(option), 0, 0, 0) for option in (1, 8, 9, 13, 14, 15)])
"""


class ProcessTitle(PlainCase):
    def test_a_script_is_shown_as_python_main_py(self):
        for _, shown in self.run_everywhere(_SHOW):
            self.assertEqual(shown, "['python', 'main.py', ''] python ['python', 'main.py']\n")

    def test_its_variables_are_those_of_the_run(self):
        if "namespace" in self.servers:  # the landlock tier does not show them
            self.assertEqual(self.run_in(self.servers["namespace"], _VARIABLES)["stdout"], b"True\n")

    def test_words_that_do_not_fit_are_shown_as_a_title(self):
        words = "import sys\nprint(open('/proc/self/cmdline', 'rb').read())"
        for arguments in (["--day", "ünï", "x" * 10_000], ["\ud800"]):
            for server in self.servers.values():
                shown = eval(self.run_in(server, words, filename="report.py", argv=arguments)["stdout"])
                title = " ".join(["python", "report.py", *arguments]).encode("utf-8", "surrogatepass")
                self.assertEqual(shown[:4000].rstrip(b"\0"), title[:4000])

    def test_a_run_cannot_move_the_places_of_its_memory(self):
        for server in self.servers.values():
            self.assertEqual(self.run_in(server, _MOVE)["stdout"], b"[-1, -1, -1, -1, -1, -1]\n")


if __name__ == "__main__":
    unittest.main()
