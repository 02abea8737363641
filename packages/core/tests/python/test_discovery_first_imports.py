"""What workers are parked with for a wrapped script: the imports that come before anything else, and no others."""

import unittest

import python_half  # noqa: F401
from pungi import discovery

SOURCE = '''
from __future__ import annotations
import os.path, json as data
from collections.abc import Mapping
from . import beside
from .beside import name
import json
import this, unittest.__main__, test.support
try:
    import maybe
except ImportError:
    maybe = None
if True:
    import later

def work():
    import inside
'''


class FirstImports(unittest.TestCase):
    def test_only_those_that_every_run_begins_with(self):
        found = discovery.discover({"code": SOURCE, "filename": "script.py"})
        self.assertEqual(found["firstImports"], ["os.path", "json", "collections.abc"])


if __name__ == "__main__":
    unittest.main()
