"""Attributes an action to the script, a package, or the import of a package, by the interpreter's frames."""

import os
import sys

# These modules import on behalf of their callers, so their imports count as the caller's.
_IMPORTS_FOR_OTHERS = {
    "importlib", "importlib.util", "importlib._bootstrap", "_frozen_importlib", "_frozen_importlib_external", "runpy", "pkgutil",
    "pydoc", "_sitebuiltins", "logging.config", "unittest.mock", "pickle", "timeit", "code", "codeop", "importlib.metadata",
    "imp", "zipimport", "doctest", "bdb", "pdb", "trace", "cProfile", "profile",
}
_GUARD_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_OWN, _IMPORT, _IMPORTLIB, _STANDARD, _TEXT, _PACKAGE = range(6)


class Callers:
    def __init__(self, rules, filename, script_builtins):
        self._rules = rules
        self._filename = filename
        self._builtins = script_builtins
        self._work = os.path.join(os.getcwd(), "")
        self._standard = os.path.join(os.path.dirname(os.__file__), "")
        self._libraries = _library_folders(self._standard)
        self._kinds = {}

    @property
    def folders(self):
        """Folders that anybody may read: sources for tracebacks, data of packages, time zones."""
        zones = getattr(sys.modules.get("zoneinfo"), "TZPATH", ())
        return (*self._libraries, *(os.path.join(path, "") for path in zones))

    def is_own(self, frame):
        """Whether the frame is the script, a string that it executes (which inherits its builtins), or a module next
        to it.
        """
        return frame.f_builtins is self._builtins or self._kind(frame) == _OWN

    def _kind(self, frame):
        path = frame.f_code.co_filename
        kind = self._kinds.get(path)
        if kind is None:
            kind = self._kinds[path] = self._kind_of_file(path)
        if kind == _IMPORTLIB and frame.f_code.co_name == "_find_and_load":
            return _IMPORT
        return kind

    def _kind_of_file(self, path):
        if path == self._filename:
            return _OWN
        if path.startswith("<frozen importlib"):
            return _IMPORTLIB
        if path.startswith("<"):
            return _STANDARD if path.startswith("<frozen") else _TEXT
        if path.startswith(_GUARD_FOLDER):
            return _STANDARD  # the caller of the worker's functions is responsible
        if path.startswith(self._standard) and "/site-packages/" not in path[len(self._standard) - 1 :]:
            return _STANDARD
        if path.startswith(self._work) and not path.startswith(self._libraries):
            return _OWN
        return _PACKAGE

    def responsible(self, frame):
        """Returns ("own", frame), ("package", None), ("import", None) or ("nobody", None).

        The standard library acts for its caller, and so does a package that the script could not have imported: both
        are skipped on the way to their callers.
        """
        while frame is not None:
            if self.is_own(frame):
                return "own", frame
            kind = self._kind(frame)
            if kind == _IMPORT:
                return "import", None
            if kind == _PACKAGE and not self._rules.refuses_import(_module_of(frame)):
                return "package", None
            frame = frame.f_back
        return "nobody", None

    def importer(self, frame):
        """Returns the script's frame if the import belongs to the script, directly or through a module that imports
        for others.
        """
        while frame is not None:
            if self.is_own(frame):
                return frame
            kind = self._kind(frame)
            if kind == _IMPORT:
                return None
            if kind not in (_TEXT, _IMPORTLIB) and _module_of(frame) not in _IMPORTS_FOR_OTHERS:
                return None
            frame = frame.f_back
        return None

    def script_frame(self, frame):
        """Returns the nearest frame of the submitted file, for the reported line."""
        while frame is not None and frame.f_code.co_filename != self._filename:
            frame = frame.f_back
        return frame


def _module_of(frame):
    name = frame.f_globals.get("__name__")
    return name if isinstance(name, str) else "?"


def _library_folders(standard):
    work = os.getcwd()
    folders = {standard, *(path for path in sys.path if path and os.path.isabs(path) and path != work)}
    return tuple(os.path.join(path, "") for path in folders)
