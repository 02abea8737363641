import os
import socket
import threading
import unittest

import python_half  # noqa: F401
from pungi.run.outbox import Outbox


class OutboxOfASocket(unittest.TestCase):
    def setUp(self):
        self.ours, self.theirs = socket.socketpair()
        self.addCleanup(self.ours.close)
        self.addCleanup(self.theirs.close)
        self.ours.setblocking(False)
        self.outbox = Outbox(self.ours.fileno())

    def read(self, size):
        data = b""
        while len(data) < size:
            data += self.theirs.recv(65536)
        return data

    def test_what_is_taken_is_gone(self):
        self.outbox.add(b"abc")
        self.outbox.add(b"def")
        self.assertTrue(self.outbox.send())
        self.assertFalse(self.outbox)
        self.assertEqual(self.read(6), b"abcdef")

    def test_nobody_reads_and_nobody_waits(self):
        data = os.urandom(2_000_000)
        self.outbox.add(data)
        self.assertFalse(self.outbox.send())
        self.assertTrue(self.outbox and self.outbox.is_full)
        reader = threading.Thread(target=lambda: self.got.append(self.read(len(data))))
        self.got = []
        reader.start()
        self.outbox.send_all()
        reader.join()
        self.assertEqual(self.got, [data])
        self.assertFalse(self.outbox.is_full)

    def test_an_end_that_is_gone_is_an_error(self):
        self.theirs.close()
        self.outbox.add(b"x")
        with self.assertRaises(OSError):
            self.outbox.send()


if __name__ == "__main__":
    unittest.main()
