"""The lock keeper with this interpreter: as a process that is spoken to as the server would, and where a moment matters,
step by step."""

import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import unittest

import python_half
from pungi import fair_lock, lock_keeper, system

DEADLINE = 30
OTHER_UID = 1_900_000_000
COMMAND = [sys.executable, "-I", "-S", "-X", "utf8", str(python_half.FOLDER), "lock-keeper"]
# Everything is imported before it becomes someone who may not be allowed to read the interpreter's folder.
AS_OTHER = f"""
import os, sys
sys.path.insert(0, {str(python_half.FOLDER)!r})
from pungi import lock_keeper
os.setuid({OTHER_UID})
lock_keeper.main()
"""


class KeeperProcess:
    def __init__(self, command=COMMAND):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env={}, cwd="/")
        self.waiting = []

    def say(self, *orders):
        self.process.stdin.write(b"".join(json.dumps(order).encode() + b"\n" for order in orders))

    def hear(self):
        """The next answer; None when there will be no more. Who has to wait for one is noted."""
        while True:
            ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
            assert ready, "the keeper does not answer"
            line = self.process.stdout.readline()
            answer = json.loads(line) if line else None
            if answer is None or "waiting" not in answer:
                return answer
            self.waiting.append(answer["id"])

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pungi-locks-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "lock")

    def ask(self, name, mode="exclusive", wait=True, path=None):
        return {"id": name, "lock": path or self.path, "mode": mode, "wait": wait}

    def start(self, command=COMMAND):
        keeper = KeeperProcess(command)
        self.addCleanup(keeper.close)
        return keeper


class Process(InFolder):
    def test_one_after_the_other(self):
        keeper = self.start()
        keeper.say(self.ask(1), self.ask(2), self.ask(3, "shared"), self.ask(4, "shared"), {"unlock": 1})
        self.assertEqual([keeper.hear(), keeper.hear()], [{"id": 1, "held": True}, {"id": 2, "held": True}])
        keeper.say({"unlock": 2})
        self.assertEqual([keeper.hear(), keeper.hear()], [{"id": 3, "held": True}, {"id": 4, "held": True}])

    def test_between_processes(self):
        one, two = self.start(), self.start()
        one.say(self.ask(1))
        one.hear()
        two.say(self.ask(1, wait=False))
        self.assertEqual(two.hear(), {"id": 1, "busy": True})
        two.say(self.ask(2))
        one.say({"unlock": 1})
        self.assertEqual(two.hear(), {"id": 2, "held": True})

    def test_only_who_has_to_wait_is_told_so(self):
        keeper = self.start()
        keeper.say(self.ask(1), self.ask(2), self.ask(3, wait=False))
        self.assertEqual([keeper.hear(), keeper.hear()], [{"id": 1, "held": True}, {"id": 3, "busy": True}])
        self.assertEqual(keeper.waiting, [2])

    def test_unknown_numbers_are_nothing(self):
        keeper = self.start()
        keeper.say({"unlock": 7}, {"cancel": 8}, self.ask(1), {"unlock": 1}, {"unlock": 1}, self.ask(2))
        self.assertEqual([keeper.hear()["id"], keeper.hear()["id"]], [1, 2])

    def test_cancelling_what_is_held_gives_it_back(self):
        keeper = self.start()
        keeper.say(self.ask(1), {"cancel": 1}, self.ask(2, wait=False))
        self.assertEqual([keeper.hear(), keeper.hear()], [{"id": 1, "held": True}, {"id": 2, "held": True}])

    def test_the_end_of_stdin_ends_it(self):
        keeper, other = self.start(), self.start()
        keeper.say(self.ask(1))
        keeper.hear()
        keeper.process.stdin.close()
        self.assertEqual(keeper.process.wait(DEADLINE), 0)
        other.say(self.ask(1, wait=False))
        self.assertEqual(other.hear(), {"id": 1, "held": True})

    @unittest.skipUnless(system.IS_LINUX, "only Linux tells a process of its parent's death")
    def test_the_death_of_the_server_ends_it_also_while_someone_keeps_its_stdin(self):
        server = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
        keeper = self.start([sys.executable, "-c", server, *COMMAND])
        keeper.say(self.ask(1))
        self.assertEqual(keeper.hear(), {"id": 1, "held": True})
        keeper.process.kill()
        self.assertIsNone(keeper.hear())

    def test_its_death_frees_what_it_held_and_its_place_in_the_line(self):
        holder, waiter, last = self.start(), self.start(), self.start()
        holder.say(self.ask(1))
        holder.hear()
        waiter.say(self.ask(1), self.ask(2, path=self.path + "-other"))
        waiter.hear()
        last.say(self.ask(1))
        waiter.process.kill()
        holder.process.kill()
        self.assertEqual(last.hear(), {"id": 1, "held": True})

    def test_more_holds_than_open_files_are_usual(self):
        keeper = self.start()
        for name in range(2000):
            keeper.say(self.ask(name, "shared"))
            self.assertEqual(keeper.hear(), {"id": name, "held": True})

    def test_failures_are_answered(self):
        keeper = self.start()
        os.symlink("elsewhere", self.path + "-linked.turn")
        keeper.say(self.ask(1, path=self.folder + "/none/lock"), self.ask(2, path=self.path + "-linked"))
        self.assertEqual(keeper.hear(), {"id": 1, "failed": f"No such file or directory: {self.folder}/none/lock.turn"})
        self.assertIn("failed", keeper.hear())
        self.assertEqual(os.listdir(self.folder), ["lock-linked.turn"])


class ReadOnlyFolder(InFolder):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        # Drawn from before, so that there is a number to look at.
        line = fair_lock.FairLock(self.path)
        line.leave(line.draw())
        os.close(line.enter(exclusive=True))
        line.close()
        if os.getuid() == 0:
            self.command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", AS_OTHER]
        else:
            self.command = COMMAND
            for name in ("lock.turn", "lock.room"):
                os.chmod(os.path.join(self.folder, name), 0o444)
            os.chmod(self.folder, 0o555)
            self.addCleanup(os.chmod, self.folder, 0o755)

    def test_can_be_locked_for_reading_only(self):
        reader = self.start(self.command)
        reader.say(self.ask(1, "shared"), self.ask(2, "exclusive"), self.ask(3, "shared", path=self.path + "-new"))
        self.assertEqual(reader.hear(), {"id": 1, "held": True})
        self.assertIn("Only a shared lock", reader.hear()["failed"])
        self.assertIn("failed", reader.hear())

    @unittest.skipUnless(os.getuid() == 0, "needs someone who may write and someone who may not")
    def test_readers_there_do_not_pass_who_waits(self):
        writer, reader = self.start(), self.start(self.command)
        reader.say(self.ask(1, "shared"))
        reader.hear()
        writer.say(self.ask(1), self.ask(2, path=self.path + "-other"))
        self.assertEqual(writer.hear()["id"], 2)
        reader.say(self.ask(2, "shared", wait=False))
        self.assertEqual(reader.hear(), {"id": 2, "busy": True})
        reader.say(self.ask(3, "shared"), {"unlock": 1})
        self.assertEqual(writer.hear(), {"id": 1, "held": True})
        writer.say({"unlock": 1})
        self.assertEqual(reader.hear(), {"id": 3, "held": True})


class StepByStep(InFolder):
    """A keeper in this process. Locks of flock are those of open files, so that the others can be in it as well."""

    def setUp(self):
        super().setUp()
        self.keeper = lock_keeper.Keeper()

    def hold_room(self):
        room = os.open(self.path + ".room", os.O_RDWR | os.O_CREAT)
        fcntl.flock(room, fcntl.LOCK_EX)
        return room

    def test_who_does_not_wait_is_not_sent_away_at_once(self):
        room = self.hold_room()
        self.keeper.take(self.ask(1, wait=False))
        self.assertEqual(self.endings(), [])
        os.close(room)
        self.until_answered()
        self.assertEqual(self.endings(), [{"id": 1, "held": True}])

    def test_it_looks_again_only_while_someone_waits(self):
        self.assertIsNone(self.keeper.pause())
        room = self.hold_room()
        self.keeper.take(self.ask(1))
        self.assertLess(self.keeper.pause(), 0.1)
        self.keeper.take({"cancel": 1})
        self.assertIsNone(self.keeper.pause())
        os.close(room)
        self.keeper.take(self.ask(2))
        self.assertEqual(self.endings(), [{"id": 2, "held": True}])
        self.assertIsNone(self.keeper.pause())

    def test_no_file_stays_open(self):
        before = len(os.listdir("/dev/fd"))
        room = self.hold_room()
        for name in range(9):
            self.keeper.take(self.ask(name, wait=name % 2 == 0))
        self.keeper.take(self.ask(99, path=self.folder + "/none/lock"))
        os.close(room)
        for name in range(9):
            self.keeper.take({"cancel": name})
        self.assertEqual(len(os.listdir("/dev/fd")), before)

    def test_nothing_is_written_while_nobody_waits(self):
        for name in range(5):
            self.keeper.take(self.ask(name))
            self.keeper.take({"unlock": name})
        self.assertEqual(os.path.getsize(self.path + ".turn"), 0)

    def test_a_line_that_was_tampered_with_still_works(self):
        for text in (b"", b"rubbish", b"9" * 40, b"-5", b"\0" * 18):
            with self.subTest(text):
                with open(self.path + ".turn", "wb") as file:
                    file.write(text)
                room = self.hold_room()
                self.keeper.take(self.ask("first"))
                self.keeper.take(self.ask("second"))
                os.close(room)
                self.until_answered()
                self.assertEqual(self.endings(), [{"id": "first", "held": True}])
                self.keeper.take({"unlock": "first"})
                self.assertEqual(self.endings()[1:], [{"id": "second", "held": True}])
                self.keeper.take({"unlock": "second"})
                self.keeper.answers.clear()

    def endings(self):
        return [answer for answer in self.keeper.answers if "waiting" not in answer]

    def until_answered(self):
        deadline = time.monotonic() + DEADLINE
        while not self.endings() and time.monotonic() < deadline:
            time.sleep(self.keeper.pause())
            self.keeper.look()


if __name__ == "__main__":
    unittest.main()
