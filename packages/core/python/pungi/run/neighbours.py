"""Loads the code that every run goes through into one place.

A new process copies each page that it writes to, and Python writes to every function and name that it uses. What is read in one go is in
few pages, which the modules between would else make many.
"""

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location

_PACKAGE = __name__.partition(".")[0]
_FOLDER = os.path.dirname(os.path.dirname(__file__))
# In the order in which a run comes to them.
_NAMES = (
    "jail.system", "run.fork_hooks", "run.template", "run.empty_stack", "run.worker", "run.frames", "run.supervisor_channel",
    "limits.limits", "run.job", "run.script_run", "run.script", "run.script_end", "run.displays", "run.bursts", "run.process_title",
    "run.started_as", "calls.endings", "run.report",
)


def gather():
    """Reads the code of the modules, which are imported later."""
    loaders = [_Loader(f"{_PACKAGE}.{name}", os.path.join(_FOLDER, *name.split(".")) + ".py") for name in _NAMES]
    sys.meta_path.insert(0, _Finder({loader.name: loader for loader in loaders}))


class _Loader(SourceFileLoader):
    def __init__(self, name, path):
        super().__init__(name, path)
        self._code = super().get_code(name)

    def get_code(self, name):
        return self._code


class _Finder:
    def __init__(self, loaders):
        self._loaders = loaders

    def find_spec(self, name, path, target=None):
        loader = self._loaders.pop(name, None)
        if not self._loaders:
            sys.meta_path.remove(self)
        return loader and spec_from_file_location(name, loader.path, loader=loader)
