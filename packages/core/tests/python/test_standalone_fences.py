import os
import types
import unittest

import python_half  # noqa: F401
from standalone_folder import WrapperCase, function_tool

from standalone.fences import _is_own_pair, _opens_for_writing

DEEDS = """
import os, shutil, socket, sqlite3, subprocess, tempfile
def write(): open("made.txt", "w")
def low(): os.open("made.txt", os.O_WRONLY | os.O_CREAT)
def append(): open("script.py", "a")
def remove(): os.remove("script.py")
def rename(): os.rename("script.py", "other.py")
def folder(): os.mkdir("made")
def temporary(): tempfile.mkstemp(dir=".")
def database(): sqlite3.connect("made.db")
def program(): subprocess.run(["true"])
def shell(): os.system("true")
def connect(): socket.create_connection(("127.0.0.1", 9), 1)
def listen(): socket.socket().bind(("127.0.0.1", 0))
def look_up(): socket.getaddrinfo("localhost", 80)
def read(): return len(open("script.py").read()) > 0
def null(): open(os.devnull, "w").write("x")
def memory(): return sqlite3.connect(":memory:").execute("select 1").fetchone()[0]
def loop():
    import asyncio
    async def wait(): return 5
    return asyncio.run(wait())
"""
WRITES = ("write", "low", "append", "remove", "rename", "folder", "temporary", "database")
PROGRAMS = ("program", "shell")
NETWORK = ("connect", "listen", "look_up")
HARMLESS = ("read", "null", "memory", "loop")


class Fences(WrapperCase):
    def failures(self, names, **variables):
        wrapper = self.start(DEEDS, *map(function_tool, names), **variables)
        found = {}
        for name in names:
            result = wrapper.call(name)
            if result.get("isError"):
                found[name] = result["content"][0]["text"]
        return found

    def test_no_files_are_written(self):
        found = self.failures(WRITES + PROGRAMS + HARMLESS, WRAPPER_ALLOW_FILE_WRITE="false")
        self.assertEqual(set(found), {*WRITES, *PROGRAMS})
        for text in found.values():
            self.assertTrue(text.startswith("PermissionError"), text)
            self.assertIn("WRAPPER_ALLOW_FILE_WRITE", text)
        self.assertEqual({name for name in os.listdir(self.base) if name.startswith("made")}, set())

    def test_no_network(self):
        found = self.failures(NETWORK + PROGRAMS + HARMLESS, WRAPPER_ALLOW_NETWORK="false")
        self.assertEqual(set(found), {*NETWORK, *PROGRAMS})
        for text in found.values():
            self.assertIn("WRAPPER_ALLOW_NETWORK", text)

    def test_without_fences_all_of_it_works(self):
        found = self.failures(("write", "folder", "program", "listen", "look_up", *HARMLESS))
        self.assertEqual(found, {})

    def test_what_opens_for_writing(self):
        for details, wanted in (
            (("a", "r", 0), False), (("a", "w", 0), True), (("a", "r+", 0), True), (("a", "xb", 0), True), ((3, "w", 0), False),
            (("a", None, os.O_RDONLY), False), (("a", None, os.O_RDWR), True), (("a", None, os.O_CREAT), True),
        ):
            self.assertEqual(_opens_for_writing(details), wanted, details)

    def test_the_pairs_that_windows_connects_by_itself(self):
        frame = types.SimpleNamespace(f_code=types.SimpleNamespace(co_name="socketpair"))
        other = types.SimpleNamespace(f_code=types.SimpleNamespace(co_name="create_connection"))
        self.assertTrue(_is_own_pair(frame, "nt"))
        self.assertFalse(_is_own_pair(frame, "posix"))
        self.assertFalse(_is_own_pair(other, "nt"))


if __name__ == "__main__":
    unittest.main()
