import contextlib
import os
import socket
import threading
import time
import unittest
from unittest import mock

import python_half  # noqa: F401
from pungi.run.outbox import Outbox
from pungi.run.run_streams import RunStreams


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


class Gathering(unittest.TestCase):
    def test_ends_in_time_though_a_run_leaves_no_pause(self):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        self.addCleanup(os.close, write)
        os.set_blocking(read, False)
        streams = RunStreams(mock.Mock(server=write, outbox=Outbox(write)))
        sent = []
        for now in (1.0, 1.0005, 1.0015, 1.002):
            streams._outbox.add(b"x")
            with mock.patch.object(time, "monotonic", lambda: now):
                streams._end_long_gathering()
            with contextlib.suppress(BlockingIOError):
                sent.append((now, os.read(read, 16)))
        self.assertEqual(sent, [(1.0015, b"xxx")])


if __name__ == "__main__":
    unittest.main()
