"""What runs bring along to be imported early may not keep a fork server from its work."""

import contextlib
import io
import json
import os
import sys
from unittest import mock

import python_half  # noqa: F401
from folder_case import FolderCase
from pungi import fork_server


class Preload(FolderCase):
    def setUp(self):
        super().setUp()
        for name, source in {"endless": "while True: pass", "leaving": "raise SystemExit(3)", "fine_one": "a = 1"}.items():
            with open(os.path.join(self.base, f"{name}.py"), "w") as file:
                file.write(source)
        sys.path.insert(0, self.base)
        self.addCleanup(sys.path.remove, self.base)
        self.addCleanup(sys.modules.pop, "fine_one", None)

    def preload(self, *names):
        said = io.StringIO()
        with mock.patch.object(fork_server, "_LONGEST_IMPORT", 0.2), contextlib.redirect_stderr(said):
            fork_server._preload(names, names)
        return {told["notPreloaded"]: told["reason"] for told in map(json.loads, said.getvalue().splitlines())}

    def test_one_that_never_comes_back_is_given_up(self):
        self.assertEqual(self.preload("endless", "fine_one"), {"endless": "TimeoutError: it took longer than 0.2 seconds"})
        self.assertIn("fine_one", sys.modules)

    def test_one_that_leaves_is_passed_over(self):
        self.assertEqual(self.preload("leaving", "fine_one"), {"leaving": "SystemExit: 3"})
        self.assertIn("fine_one", sys.modules)
