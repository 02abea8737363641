"""Converts any value to plain data, up to a limit of size and depth."""

import json
import sys

from .shown import class_name_of, safe_repr
from .writers import WRITERS

MOST_JSON = 1024 * 1024
_DEEPEST_RESULT = 100
# Every process on the way to the client parses all of them.
_MOST_PARTS = 110_000
# Many JSON parsers round larger numbers.
_LARGEST_WHOLE = 1 << 53
TOO_LARGE = f"the value is larger than {MOST_JSON} bytes as JSON and was left out; its repr is cut"
_TOO_MANY = f"the value has more than {_MOST_PARTS} parts and is not given as JSON; its repr is cut"
TOO_DEEP = f"the value is nested more than {_DEEPEST_RESULT} deep and is not given as JSON"
write_json = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode


class NotWritten(Exception):
    """The value cannot be converted to JSON."""


class PlainData:
    """Uses `type(value)` and the methods of the plain types: a class can override its own."""

    def __init__(self, contents, note):
        self.note = note
        # Only the repr of the whole value could be written.
        self.is_only_repr = False
        self._contents = contents
        self._above = set()
        self._room = MOST_JSON
        self._parts = 0

    def write(self, value, depth=0):
        kind = type(value)
        self._count()
        if value is None or kind is bool:
            self.spend(4)
            return value
        if issubclass(kind, sys.modules["enum"].Enum):
            return self.write(value.value, depth)
        if issubclass(kind, str):
            return self.text(str.__str__(value))
        if issubclass(kind, int):
            return self._whole(int.__int__(value))
        if issubclass(kind, float):
            return self._number(float.__float__(value))
        if depth >= _DEEPEST_RESULT:
            raise NotWritten(TOO_DEEP)
        if id(value) in self._above:
            self.note("the value holds itself")
            return self.text("(itself)")
        self._above.add(id(value))
        self._count()
        try:
            for is_of_kind, write in WRITERS:
                if is_of_kind(value, kind):
                    return write(self, value, depth)
            return self._unknown(value, depth)
        finally:
            self._above.discard(id(value))

    def spend(self, size):
        """Called before a conversion, so that large values are rejected early."""
        self._room -= size + 2
        if self._room < 0:
            raise NotWritten(TOO_LARGE)

    def _count(self):
        """Counts the parts of the value. A list or a map counts twice."""
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise NotWritten(_TOO_MANY)

    def text(self, text):
        self.spend(len(text))
        return text

    def content(self, media, data):
        return self.text(self._contents.take(media, data))

    def items(self, values, depth):
        return [self.write(each, depth + 1) for each in values]

    def entries(self, pairs, depth):
        found = {}
        for key, each in pairs:
            name = self.name(key)
            if name in found:
                self.note("several keys are the same as texts; the last one is given")
            found[name] = self.write(each, depth + 1)
        return found

    def name(self, key):
        """Converts a key to a text: JSON has no other keys."""
        self._count()
        if type(key) is str:
            return self.text(key)
        if type(key) is tuple:
            return self.text(safe_repr(key, 1000))
        written = self.write(key, _DEEPEST_RESULT - 1)
        return written if type(written) is str else write_json(written)[:1000]

    def _whole(self, number):
        if -_LARGEST_WHOLE <= number <= _LARGEST_WHOLE:
            self.spend(len(str(number)) - 2)
            return number
        self.note("whole numbers beyond 2**53 are given as texts, since many readers of JSON would round them")
        try:
            return self.text(str(number))
        except ValueError:
            return self.text(hex(number))  # more digits than Python likes to write

    def _number(self, number):
        self.spend(4)
        if number - number == 0:
            return number
        self.note("NaN and infinite numbers are given as null, since JSON has none")
        return None

    def _unknown(self, value, depth):
        self.note(f"{class_name_of(type(value))} cannot be written as JSON; its repr is given")
        self.is_only_repr = depth == 0
        return self.text(safe_repr(value, 2000))
