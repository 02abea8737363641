import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import json
import pathlib
import re
import sys
import types
import typing
import unittest
import uuid

import python_half  # noqa: F401
from pungi.calls import call, results

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date
    shared: typing.ClassVar = 5


class Pair(typing.NamedTuple):
    a: int
    b: Color


def described(value):
    about = results.describe_result(value)
    # As it is sent.
    assert json.loads(json.dumps(about, allow_nan=False)) == about
    return about


class Json(unittest.TestCase):
    def expect(self, value, wanted, note=None):
        about = described(value)
        self.assertIn("json", about, about)
        self.assertEqual((type(about["json"]), about["json"]), (type(wanted), wanted))
        self.assertEqual(about.get("note"), note)
        self.assertNotIn("content", about)

    def test_plain_data_as_it_is(self):
        for value in (None, True, 7, 1.5, "ż", [1, [None]], {"a": {"b": []}}, 2**53):
            self.expect(value, value)

    def test_objects_with_fields(self):
        self.expect(Point(1, datetime.date(2024, 1, 2)), {"x": 1, "when": "2024-01-02"})
        self.expect(Pair(1, Color.RED), {"a": 1, "b": "red"})
        self.expect(types.SimpleNamespace(a=1), {"a": 1})
        self.expect([Point(1, datetime.date(2024, 1, 2))], [{"x": 1, "when": "2024-01-02"}])

    def test_types_that_are_written_as_texts(self):
        self.expect(datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), "2024-01-02T00:00:00+00:00")
        self.expect(datetime.time(1, 2), "01:02:00")
        self.expect(decimal.Decimal("1.10"), "1.10")
        self.expect(fractions.Fraction(3, 4), "3/4")
        self.expect(uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001")
        self.expect(pathlib.PurePosixPath("a/b"), "a/b")
        self.expect(re.compile("a+"), "a+")
        for span, text in (({"days": 1, "hours": 2}, "P1DT2H"), ({"seconds": 1.5}, "PT1.5S"), ({}, "P0D"),
                           ({"minutes": -1}, "-PT1M"), ({"microseconds": 1}, "PT0.000001S"), ({"days": 3}, "P3D")):
            self.expect(datetime.timedelta(**span), text)

    def test_enumerations_and_collections(self):
        self.expect(Color.RED, "red")
        self.expect(Level.LOW, 1)
        self.expect({3, 1, 2}, [1, 2, 3])
        self.expect({"b", 1}, [ "b", 1])
        self.expect((1, 2), [1, 2])
        self.expect(range(3), [0, 1, 2])
        self.expect({"a": 1}.keys(), ["a"])
        self.expect(collections.deque([1]), [1])
        self.expect(collections.Counter("aab"), {"a": 2, "b": 1})
        self.expect(collections.ChainMap({"a": 1}), {"a": 1})

    def test_keys_become_texts(self):
        self.expect({1: 1, 2.5: 2, True + 5: 3, None: 4}, {"1": 1, "2.5": 2, "6": 3, "null": 4})
        self.expect({Color.RED: 1, datetime.date(2024, 1, 2): 2, (1, 2): 3, False: 4},
                    {"red": 1, "2024-01-02": 2, "(1, 2)": 3, "false": 4})
        self.expect({1: "a", "1": "b"}, {"1": "b"}, "several keys are the same as texts; the last one is given.")

    def test_numbers_that_json_has_not(self):
        nothing = "NaN and infinite numbers are given as null, since JSON has none."
        self.expect([float("nan"), float("inf"), 1.0], [None, None, 1.0], nothing)
        rounded = "whole numbers beyond 2**53 are given as texts, since many readers of JSON would round them."
        self.expect([2**53 + 1, -(2**53) - 1], ["9007199254740993", "-9007199254740993"], rounded)
        self.expect(1 << 20000, hex(1 << 20000), rounded)

    def test_bytes_inside(self):
        self.expect({"a": b"hi"}, {"a": "aGk="}, "bytes are given as base64.")

    def test_unknown_objects_inside_are_shown(self):
        class Thing:
            def __repr__(self):
                return "a thing"

        name = "test_calls_results.Json.test_unknown_objects_inside_are_shown.<locals>.Thing"
        self.expect([Thing()], ["a thing"], f"{name} cannot be written as JSON; its repr is given.")
        about = described(Thing())
        note = f"{name} cannot be written as JSON; its repr is given."
        self.assertEqual(about, {"type": name, "repr": "a thing", "note": note})


class Contents(unittest.TestCase):
    def test_bytes_are_contents_of_the_kind_that_they_begin_with(self):
        any_bytes = "application/octet-stream"
        examples = (
            (PNG, "image/png", "image"), (b"\xff\xd8\xff", "image/jpeg", "image"), (b"GIF89a", "image/gif", "image"),
            (b"RIFF1234WEBP", "image/webp", "image"), (b"RIFF1234WAVE", "audio/wav", "audio"), (b"", any_bytes, "bytes"),
            (b"%PDF-1.7", "application/pdf", "bytes"), (b"<svg xmlns=''>", "image/svg+xml", "bytes"), (b"x", any_bytes, "bytes")
        )
        for data, media, kind in examples:
            content = {"kind": kind, "mimeType": media, "base64": base64.b64encode(data).decode()}
            for value in (data, bytearray(data), memoryview(data), io.BytesIO(data)):
                about = described(value)
                self.assertEqual(about["content"], [content])
                self.assertNotIn("json", about)

    def test_pictures_inside_have_a_word_in_their_place(self):
        about = described({"plot": PNG, "n": 1})
        self.assertEqual(about["json"], {"plot": "(content 1: image/png)", "n": 1})
        self.assertEqual(len(about["content"]), 1)

    def test_what_there_is_no_room_for_is_left_out_and_noted(self):
        about = described([PNG + b"\0" * 4_000_000, PNG + b"\0" * 4_000_000, PNG])
        self.assertEqual([len(each["base64"]) for each in about["content"]], [5333372, 40])
        self.assertIn("image/png of 4000028 bytes was left out", about["note"])
        self.assertEqual(about["json"][1], "(image/png of 4000028 bytes, left out)")
        about = described(b"\0" * 10_000_000)
        self.assertNotIn("content", about)
        self.assertIn("left out", about["note"])


class Bounds(unittest.TestCase):
    def expect_no_json(self, value, words):
        about = described(value)
        self.assertNotIn("json", about)
        self.assertIn(words, about["note"])
        self.assertLess(len(about["repr"]), 70_000)
        return about

    def test_large_values(self):
        self.expect_no_json("x" * 1_100_000, "larger than 1048576 bytes")
        self.expect_no_json("ż" * 600_000, "larger than 1048576 bytes")
        self.expect_no_json(list(range(1_000_000)), "more than 110000 parts")
        self.expect_no_json({str(number): None for number in range(300_000)}, "more than 110000 parts")
        self.expect_no_json([[]] * 60_000, "more than 110000 parts")
        self.expect_no_json(["x" * 20] * 60_000, "larger than 1048576 bytes")
        self.assertEqual(len(described([1] * 100_000)["json"]), 100_000)
        self.assertEqual(len(described("x" * 1_000_000)["json"]), 1_000_000)

    def test_deep_values(self):
        deep = []
        for _ in range(99):
            deep = [deep]
        self.assertIn("json", described(deep))
        self.expect_no_json([deep], "nested more than 100 deep")
        for _ in range(100_000):
            deep = [deep]
        self.expect_no_json(deep, "nested more than 100 deep")

    def test_values_that_hold_themselves(self):
        value = [1]
        value.append(value)
        about = described(value)
        self.assertEqual((about["json"], about["note"]), ([1, "(itself)"], "the value holds itself."))
        twice = [1]
        self.assertEqual(described([twice, twice])["json"], [[1], [1]])

    def test_notes_are_few_and_short(self):
        things = [type(f"T{number}" * 300, (), {})() for number in range(50)]
        self.assertLess(len(described(things)["note"]), 4000)


class Hostile(unittest.TestCase):
    def test_repr_that_raises(self):
        for error in (ZeroDivisionError, SystemExit, KeyboardInterrupt, RecursionError):
            class Thing:
                def __repr__(self):
                    raise error("boom")

            about = described(Thing())
            self.assertIn(f"its repr raised {error.__name__}", about["repr"])
            self.assertIn("cannot be written", described([Thing()])["note"])

    def test_repr_that_gives_no_text_or_a_strange_one(self):
        class Text(str):
            def __len__(self):
                return -5

            def __getitem__(self, key):
                raise ZeroDivisionError

        class Thing:
            answer = 5

            def __repr__(self):
                return self.answer

        self.assertIn("TypeError", described(Thing())["repr"])
        Thing.answer = Text("x" * 100_000)
        self.assertLess(len(described(Thing())["repr"]), 70_000)

    def test_class_that_lies_about_itself(self):
        class Liar:
            @property
            def __class__(self):
                raise ZeroDivisionError

            def __getattribute__(self, name):
                raise ZeroDivisionError

        class Pretender:
            __class__ = dict

            def __repr__(self):
                return "pretender"

        self.assertIn("cannot be written", described(Liar())["note"])
        self.assertIn("cannot be written", described(Pretender())["note"])

    def test_metaclass_that_raises(self):
        class Meta(type):
            def __getattribute__(cls, name):
                raise ZeroDivisionError(name)

        class Thing(metaclass=Meta):
            pass

        about = described(Thing())
        self.assertTrue(about["type"].endswith("Thing"), about)
        self.assertIn("could not be written as JSON", about["note"])

    def test_subclasses_of_plain_types_that_do_something_else(self):
        def explode(*arguments):
            raise ZeroDivisionError

        names = ("__len__", "__iter__", "__str__", "__int__", "__float__", "__eq__", "__getitem__", "items")
        hostile = dict.fromkeys(names, explode)
        for base, value in ((dict, {"a": 1}), (list, [1]), (tuple, (1,)), (str, "a"), (int, 5), (float, 1.5)):
            with self.subTest(base):
                about = described(type("Sub", (base,), hostile)(value))
                self.assertEqual(about["json"], list(value) if base is tuple else value)

    def test_fields_that_raise(self):
        @dataclasses.dataclass
        class Lazy:
            a: int

            def __getattribute__(self, name):
                raise SystemExit(name)

        self.assertIn("could not be written as JSON: SystemExit", described(Lazy.__new__(Lazy))["note"])

    def test_a_package_that_is_not_one(self):
        for name in ("numpy", "pandas", "PIL.Image", "matplotlib.figure"):
            fake = types.ModuleType(name)
            fake.ndarray = fake.DataFrame = fake.Image = fake.Figure = fake.generic = 5
            before = sys.modules.get(name)
            sys.modules[name] = fake
            try:
                self.assertIn("cannot be written", described(object())["note"])
            finally:
                if before is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = before


class Calls(unittest.TestCase):
    def perform(self, source, name="function"):
        variables = {}
        exec(source, variables)
        return call.perform_call(variables[name], [], {})

    def test_what_is_waited_for(self):
        self.assertEqual(self.perform("async def function(): return 5"), 5)
        self.assertEqual(self.perform("async def inner(): return 5\ndef function(): return inner()"), 5)
        source = "import asyncio\nasync def function():\n await asyncio.sleep(0)\n return bool(asyncio.get_running_loop())"
        self.assertEqual(self.perform(source), True)
        self.assertEqual(self.perform("class A:\n def __await__(self):\n  return 5\n  yield\ndef function(): return A()"), 5)

    def test_what_comes_one_by_one(self):
        self.assertEqual(self.perform("def function():\n yield 1\n yield 2"), [1, 2])
        self.assertEqual(self.perform("async def function():\n yield 1\n yield 2"), [1, 2])
        self.assertEqual(self.perform("def function(): return map(str, [1])"), ["1"])
        self.assertEqual(self.perform("async def function(): return (each for each in (1, 2))"), [1, 2])

    def test_what_never_ends_is_cut_and_noted(self):
        for source in ("def function():\n while True:\n  yield 1", "async def function():\n while True:\n  yield 1"):
            value = self.perform(source)
            self.assertEqual(len(value), 100_000)
            self.assertEqual(described(value)["note"], "only the first 100000 values were taken.")
            self.assertEqual(described(value)["type"], "list")
        self.assertEqual(len(self.perform("async def function(): return [1] * 200_000")), 200_000)

    def test_a_failure_has_no_frames_of_the_event_loop(self):
        for source in ("async def function(): 1 // 0", "async def function():\n yield 1\n 1 // 0"):
            try:
                self.perform(source)
            except ZeroDivisionError as error:
                trace, files = error.__traceback__, set()
                while trace is not None:
                    files.add(trace.tb_frame.f_code.co_filename)
                    trace = trace.tb_next
            self.assertFalse([file for file in files if "asyncio" in file], files)
            self.assertIn("<string>", files)


if __name__ == "__main__":
    unittest.main()
