import os
import tempfile
import unittest


class FolderCase(unittest.TestCase):
    """Tests that make folders, in one of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = os.path.realpath(folder.name)

    def make(self, name):
        path = os.path.join(self.base, name)
        os.makedirs(path)
        return path
