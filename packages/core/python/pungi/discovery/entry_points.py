"""Runs a script up to the point where it reads its command line, and keeps the parser that would read it."""

import argparse
import contextlib
import optparse
import signal
import sys
import threading

_PARSING = ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args")
# Each has its own copy of click's classes.
_CLICKS = ("click.core", "asyncclick.core", "typer._click.core")


class Reached(BaseException):
    """The command line is about to be read. No `except Exception` of a script stops it."""


class TookTooLong(BaseException):
    pass


class Interception:
    """`parser`: of argparse or optparse, or a command of click; None: the script did not get there. `lines`: {id of a parser, action or
    group: the line of the script that makes it}; `functions`: names of the script's functions that take part in it."""

    def __init__(self, path):
        self.parser = None
        self.lines, self.functions = {}, set()
        self._path = path
        self._kept = []  # ids of things that are gone would be given again

    @contextlib.contextmanager
    def active(self):
        with contextlib.ExitStack() as stack:
            for owner, name, make in self._patches():
                original = owner.__dict__[name]
                stack.callback(setattr, owner, name, original)
                setattr(owner, name, make(original))
            yield self

    def _patches(self):
        container = argparse._ActionsContainer
        yield argparse.ArgumentParser, "__init__", self._noting_self
        for name in ("add_argument", "add_mutually_exclusive_group"):
            yield container, name, self._noting_result
        for name in _PARSING:
            yield argparse.ArgumentParser, name, self._reaching
        yield optparse.OptionParser, "__init__", self._noting_self
        yield optparse.OptionContainer, "add_option", self._noting_result
        yield optparse.OptionParser, "parse_args", self._reaching
        for module in map(sys.modules.get, _CLICKS):
            for kind in (getattr(module, "BaseCommand", None), getattr(module, "Command", None)):
                if kind is not None and "make_context" in kind.__dict__:
                    yield kind, "make_context", self._reaching

    def _note(self, thing):
        frame, line = sys._getframe(2), None
        while frame is not None:
            if frame.f_code.co_filename == self._path:
                line = line or frame.f_lineno
                self.functions.add(frame.f_code.co_name)
            frame = frame.f_back
        self._kept.append(thing)
        self.lines.setdefault(id(thing), line or 1)

    def _noting_self(self, original):
        def init(parser, *args, **kwargs):
            self._note(parser)
            original(parser, *args, **kwargs)

        return init

    def _noting_result(self, original):
        def add(*args, **kwargs):
            made = original(*args, **kwargs)
            self._note(made)
            return made

        return add

    def _reaching(self, original):
        def parse(parser, *args, **kwargs):
            self._note(parser)
            self.parser = parser
            # A parser without help reads where the settings are; another one, which takes over its options, comes later.
            if original.__name__ == "parse_known_args" and not parser.add_help:
                return original(parser, *args, **kwargs)
            raise Reached

        return parse


@contextlib.contextmanager
def time_limit(seconds):
    """Raises TookTooLong in what runs for longer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise TookTooLong(f"it took longer than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def reach(path, start, seconds):
    """(the Interception, what ended it instead). `start()`: runs the script, or a function of it. Programs that end before they
    parse anything because they are given no words are started again with --help."""
    interception, first = Interception(path), None
    program = sys.argv[0]
    for words in ((), ("--help",)):
        sys.argv = [program, *words]
        error = _start(interception, start, seconds)
        first = first if words else error
        if interception.parser is not None or isinstance(error, (ImportError, TookTooLong)):
            break
    return interception, None if interception.parser is not None else first


def _start(interception, start, seconds):
    with interception.active():
        try:
            with time_limit(seconds):
                start()
        except Reached:
            return None
        except BaseException as error:
            return error
    return None
