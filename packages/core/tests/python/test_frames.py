import os
import random
import threading
import unittest

import python_half  # noqa: F401
from pungi.run import frames


def parse(chunks, **options):
    parser, found = frames.FrameParser(**options), []
    for chunk in chunks:
        parser.feed(chunk)
        found += parser.frames()
    return found


class Frames(unittest.TestCase):
    def test_come_out_as_they_went_in_however_the_stream_is_cut(self):
        chance = random.Random(7)
        kinds = (frames.JOB, frames.STDOUT, frames.REPORT, frames.END)
        for _ in range(200):
            sent = [(chance.choice(kinds), chance.randbytes(chance.choice((0, 1, 5, 300)))) for _ in range(10)]
            stream = b"".join(frames.pack(*frame) for frame in sent)
            cuts = sorted(chance.randrange(len(stream) + 1) for _ in range(chance.randrange(30)))
            chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)])]
            self.assertEqual(parse(chunks), sent)

    def test_one_byte_at_a_time(self):
        stream = frames.pack(frames.STDERR, b"abc") + frames.pack(frames.CANCEL)
        self.assertEqual(parse(bytes([b]) for b in stream), [(frames.STDERR, b"abc"), (frames.CANCEL, b"")])

    def test_an_unfinished_one_is_waited_for(self):
        self.assertEqual(parse([frames.pack(frames.JOB, b"abc")[:-1]]), [])

    def test_one_that_is_too_long_is_refused_before_it_is_read(self):
        head = frames.pack(frames.REPORT, b"x" * 11)[: frames.HEAD_SIZE]
        with self.assertRaises(ValueError):
            parse([head], max_payload=10)
        self.assertEqual(len(parse([frames.pack(frames.REPORT, b"x" * 10)], max_payload=10)), 1)

    def test_kinds_are_all_different(self):
        names = "LIMITS JOB CANCEL HELLO PARKED FAILED STDOUT STDERR REPORT END TROUBLE".split()
        self.assertEqual(len({getattr(frames, name) for name in names}), len(names))

    def test_head_is_the_length_in_network_order_and_the_kind(self):
        self.assertEqual(frames.pack(frames.JOB, b"x" * 258)[:5], b"\x00\x00\x01\x02J")


class Descriptors(unittest.TestCase):
    def setUp(self):
        self.source, self.sink = os.pipe()
        self.addCleanup(os.close, self.source)

    def test_a_frame_larger_than_the_pipe_is_written_and_read_whole(self):
        payload = random.Random(1).randbytes(300_000)

        def write():
            frames.write_all(self.sink, frames.pack(frames.JOB, payload))
            os.close(self.sink)

        writer = threading.Thread(target=write)
        writer.start()
        self.assertEqual(frames.read_frame(self.source), (frames.JOB, payload))
        self.assertIsNone(frames.read_frame(self.source))
        writer.join()

    def test_an_end_in_the_middle_of_a_frame_is_an_end(self):
        os.write(self.sink, frames.pack(frames.JOB, b"abc")[:-1])
        os.close(self.sink)
        self.assertIsNone(frames.read_frame(self.source))


if __name__ == "__main__":
    unittest.main()
