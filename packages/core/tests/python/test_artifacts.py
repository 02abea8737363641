"""The files that a run leaves behind are sent: regular files only, bounded, and no input that is unchanged."""

import hashlib
import json
import os
import socket
import unittest

import folder_case
import python_half  # noqa: F401
from pungi.run import originals
from pungi.run.artifacts import Artifacts

LIMITS = {"artifactBytes": 1 << 20, "inputs": {"main.py": None}}


class LeftFiles(folder_case.FolderCase):
    def setUp(self):
        super().setUp()
        self.folder = self.make("work")

    def write(self, path, content=b"x"):
        whole = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(content)
        return whole

    def collect(self, artifacts=None, **limits):
        """By path; and how many were left out."""
        found, left_out = {}, 0
        for payload in (artifacts or Artifacts(self.folder, self.folder)).collect({**LIMITS, **limits}):
            header, _, piece = payload.partition(b"\n")
            about = json.loads(header)
            left_out += about.get("leftOut", 0)
            if "path" in about:
                found[about["path"]] = found.get(about["path"], b"") + piece
        return found, left_out

    def test_files_and_those_in_folders_are_sent_without_the_script(self):
        self.write("main.py")
        self.write("out.csv", b"a,b\n")
        self.write("deep/er/empty.txt", b"")
        self.write("large.bin", bytes(range(256)) * 3000)
        found, left_out = self.collect(artifactBytes=1 << 22)
        self.assertEqual(set(found), {"out.csv", "deep/er/empty.txt", "large.bin"})
        self.assertEqual((found["out.csv"], found["deep/er/empty.txt"], left_out), (b"a,b\n", b"", 0))
        self.assertEqual(found["large.bin"], bytes(range(256)) * 3000)

    def test_an_unchanged_input_is_not_sent_and_a_changed_one_is(self):
        self.write("same.txt", b"same")
        self.write("other.txt", b"abcd")
        inputs = {name: [4, hashlib.sha256(content).hexdigest()] for name, content in {"same.txt": b"same", "other.txt": b"ABCD"}.items()}
        self.assertEqual(self.collect(inputs=inputs), ({"other.txt": b"abcd"}, 0))

    def test_in_a_session_only_what_changed_since_is_sent(self):
        artifacts = Artifacts(self.folder, self.folder)
        self.write("a.txt", b"1")
        self.assertEqual(self.collect(artifacts)[0], {"a.txt": b"1"})
        self.assertEqual(self.collect(artifacts)[0], {})
        self.write("b.txt", b"2")
        os.utime(self.write("a.txt", b"3"), ns=(1, 1))
        self.assertEqual(self.collect(artifacts)[0], {"a.txt": b"3", "b.txt": b"2"})

    def test_thousands_of_scripts_of_a_session_hide_no_file(self):
        artifacts = Artifacts(self.folder, self.folder)
        self.write("main.py", b"first")
        self.assertEqual(self.collect(artifacts, inputs={"main.py": None})[0], {})
        for number in range(2, 5300):
            self.write(f"main_{number}.py", b"later")
        artifacts.take_up((set(), set(), {f"main_{number}.py" for number in range(2, 5300)}), is_copy=False)
        self.write("main.py", b"made by the script")
        self.write("plot_2.py", b"made, too")
        self.assertEqual(self.collect(artifacts, inputs={})[0], {"main.py": b"made by the script", "plot_2.py": b"made, too"})

    def test_links_pipes_sockets_and_hidden_files_are_not_read(self):
        secret = self.write(".hidden", b"secret")
        self.write(".cache/x", b"cached")
        self.write("__pycache__/main.pyc", b"code")
        os.symlink("/etc/passwd", os.path.join(self.folder, "link"))
        os.symlink("/etc", os.path.join(self.folder, "folder"))
        os.symlink(secret, os.path.join(self.folder, "inner"))
        os.mkfifo(os.path.join(self.folder, "pipe"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.join(self.folder, "socket"))
            self.assertEqual(self.collect(), ({}, 0))

    def test_too_large_too_many_too_deep_and_unreadable_names_are_left_out(self):
        self.write("large.bin", bytes(5000))
        self.write("small.txt", b"small")
        self.assertEqual(self.collect(artifactBytes=100), ({"small.txt": b"small"}, 1))
        os.remove(os.path.join(self.folder, "large.bin"))
        for number in range(300):
            self.write(f"many/{number}")
        found, left_out = self.collect()
        self.assertEqual((len(found), left_out), (200, 101))
        self.write("/".join(["d"] * 30) + "/deep.txt")
        self.assertNotIn("deep.txt", " ".join(self.collect()[0]))
        with open(os.path.join(os.fsencode(self.folder), b"\xff.txt"), "wb"):
            pass
        self.assertNotIn("\udcff.txt", self.collect()[0])

    def test_no_more_than_thousands_of_files_are_looked_at(self):
        for number in range(6000):
            os.mknod(os.path.join(self.folder, f"{number}"))
        found, left_out = self.collect()
        self.assertEqual(len(found), 200)
        self.assertGreater(left_out, 0)

    def test_originals_of_displays_are_sent_apart_and_nothing_else_of_their_folder(self):
        artifacts, shown = Artifacts(self.folder, self.folder), originals.FOLDER
        self.write(f"{shown}/1.png", b"original")
        for name in ("x.png", ".2.png", "3.png\n", "4", "1234.png", "5.jpeg2"):
            self.write(f"{shown}/{name}")
        os.symlink("/etc/passwd", os.path.join(self.folder, shown, "6.png"))
        os.mkfifo(os.path.join(self.folder, shown, "7.png"))
        payloads = list(artifacts.collect(LIMITS))
        self.assertEqual(payloads, [b'{"original": "1.png", "size": 8}\noriginal'])
        self.assertEqual(list(artifacts.collect(LIMITS)), [])

    def test_a_folder_of_originals_that_is_a_link_is_not_entered(self):
        elsewhere = self.make("elsewhere")
        os.symlink(elsewhere, os.path.join(self.folder, originals.FOLDER))
        with open(os.path.join(elsewhere, "1.png"), "w"):
            pass
        self.assertEqual(list(Artifacts(self.folder, self.folder).collect(LIMITS)), [])

    def test_a_run_that_may_leave_nothing_is_not_searched(self):
        self.assertEqual(list(Artifacts("/nothing/here", "/nothing/here").collect({"artifactBytes": 0})), [])


if __name__ == "__main__":
    unittest.main()
