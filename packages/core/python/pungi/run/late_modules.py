"""Modules of ours that few runs need. The jail hides their files, so their sources are read while the fork server starts; they
are compiled and run in the worker that imports them."""

import contextlib
import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGE = __package__.partition(".")[0]
_sources, _hidden, _shown = {}, {}, set()


def keep(*names):
    """Reads the modules of these folders of ours."""
    for name in names:
        folder = os.path.join(_FOLDER, name)
        for file in os.listdir(folder):
            if file.endswith(".py"):
                stem = file.removesuffix(".py")
                _read(f"{_PACKAGE}.{name}" if stem == "__init__" else f"{_PACKAGE}.{name}.{stem}", os.path.join(folder, file))


def _read(name, path):
    with open(path, "rb") as file:
        _sources[name] = path, file.read()


def hide(*others):
    """Hides our modules, from now on but for `others`, from scripts, which have none of them in plain Python."""
    _shown.update(others)
    for name in [name for name in sys.modules if name.partition(".")[0] in (_PACKAGE, "standalone")]:
        if name not in _shown:
            _hidden[name] = sys.modules.pop(name)


@contextlib.contextmanager
def importable():
    """In a worker that needs them, before its script runs: others have the modules and the import system of any interpreter."""
    sys.modules.update(_hidden)
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(_Finder)
        hide()


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _sources:
            return None
        is_package = _sources[name][0].endswith("__init__.py")
        return importlib.util.spec_from_loader(name, _Loader, origin=_sources[name][0], is_package=is_package)


class _Loader:
    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        path, source = _sources[module.__name__]
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
