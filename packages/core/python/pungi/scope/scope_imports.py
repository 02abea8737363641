"""Replaces Python's import functions, so that imports of the script are checked and those of packages are not."""

import importlib
import importlib._bootstrap
import importlib.util
import sys
import types
from _thread import get_ident

from . import scope_members

_getframe, _module_type = sys._getframe, types.ModuleType


class ImportGuard:
    def __init__(self, rules, callers, busy, stand_in, refuse, after_import, is_guarded):
        self._rules = rules
        self._callers = callers
        self._busy = busy
        self._stand_in = stand_in
        self._refuse = refuse
        self._after_import = after_import
        self._is_guarded = is_guarded

    def install(self):
        """Returns the new `__import__`."""
        real_import, real_module = sys.modules["builtins"].__import__, importlib.import_module
        real_from_spec, real_exec = importlib.util.module_from_spec, importlib._bootstrap._exec

        def guarded_import(name, globals=None, locals=None, fromlist=(), level=0):
            # C code (datetime's strptime, numpy's tofile) has no frame, but only C code passes a list.
            frame = None if type(fromlist) is list else self._own_importer()
            if frame is None:
                return real_import(name, globals, locals, fromlist, level)
            do_import = lambda: real_import(name, globals, locals, fromlist, level)  # noqa: E731
            return self._import_for_script(frame, name, fromlist, level, do_import)

        def import_module(name, package=None):
            if (frame := self._own_importer()) is not None and not name.startswith("."):
                self.check(name, frame)
            return real_module(name, package)

        def module_from_spec(spec):
            if (frame := self._own_importer()) is not None:
                self.check(spec.name, frame)
            return real_from_spec(spec)

        def _exec(spec, module):
            if (frame := self._own_importer()) is not None:
                self.check(spec.name, frame)
            return real_exec(spec, module)

        for function in (module_from_spec, _exec):
            # Python leaves a function of this name out of tracebacks, as it does the original.
            function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap>")
        sys.modules["builtins"].__import__ = guarded_import
        importlib.import_module = import_module
        importlib.util.module_from_spec = importlib._bootstrap.module_from_spec = module_from_spec
        importlib._bootstrap._exec = _exec
        return guarded_import

    def _own_importer(self):
        if get_ident() in self._busy:
            return None
        self._busy.add(get_ident())
        try:
            return self._callers.importer(_getframe(2))
        finally:
            self._busy.discard(get_ident())

    def check(self, name, frame):
        if reason := self._rules.refuses_import(name):
            self._refuse("import", name, reason, frame)

    def _import_for_script(self, frame, name, fromlist, level, do_import):
        if not level:
            if self._is_guarded(frame) and self._rules.refuses_import(name):
                raise ModuleNotFoundError(f"No module named {name!r} for the profile {self._rules.profile!r}", name=name)
            self.check(name, frame)
        if name == "builtins" and self._rules.builtins:
            return self._stand_in
        module = do_import()
        for member in self._members(module, fromlist or ()):
            value = vars(module).get(member) if type(module) is _module_type else None
            if isinstance(value, _module_type) and (refusal := scope_members.judge_module(value, self._rules)):
                self._refuse(*refusal, frame)
        self._after_import()
        return module

    def _members(self, module, fromlist):
        if "*" not in fromlist:
            return fromlist
        public = getattr(module, "__all__", None)
        return public if public is not None else [name for name in list(vars(module)) if not name.startswith("_")]
