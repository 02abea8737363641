"""The text of an object that has `_repr_pretty_`, the method by which notebooks print."""

import contextlib


def of(value):
    """None without such a method."""
    method = getattr(type(value), "_repr_pretty_", None)
    if method is None:
        return None
    printer = _Printer()
    method(value, printer, False)
    return "".join(printer.parts)


class _Printer:
    """What IPython hands to the method, as far as it is needed: lines are broken only where the method says so."""

    def __init__(self):
        self.parts, self._indent, self._inside = [], 0, []

    def text(self, text):
        self.parts.append(str(text))

    def breakable(self, sep=" "):
        self.text(sep)

    def break_(self):
        self.text("\n" + " " * self._indent)

    def begin_group(self, indent=0, open=""):
        self.text(open)
        self._indent += indent

    def end_group(self, dedent=0, close=""):
        self._indent -= dedent
        self.text(close)

    @contextlib.contextmanager
    def group(self, indent=0, open="", close=""):
        self.begin_group(indent, open)
        try:
            yield
        finally:
            self.end_group(indent, close)

    @contextlib.contextmanager
    def indent(self, indent):
        with self.group(indent):
            yield

    def pretty(self, value):
        method = getattr(type(value), "_repr_pretty_", None)
        if method is None:
            return self.text(repr(value))
        is_cycle = any(each is value for each in self._inside)
        self._inside.append(value)
        try:
            method(value, self, is_cycle)
        finally:
            self._inside.pop()
