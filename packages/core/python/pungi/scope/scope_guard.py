"""Keeps a running script to its profile's scope, where static analysis cannot decide.

This is scope, not security. The kernel sandbox is the boundary: code in the same interpreter can bypass this guard, and
gains nothing beyond what the sandbox allows. The parts:

- `__import__`, import_module, module_from_spec: every import of the script, also of loaded modules, by statement,
  function, loader, or a module that imports for others (pkgutil, runpy). A package's imports are its own.
- The script's builtins: blocked ones refuse; getattr and vars detect a module reached by a computed name. Code in
  strings inherits these builtins, which identify it as the script.
- Audit events: files for the script itself (through the standard library, too, but not through allowed packages);
  processes and the network for all code, except while a package is being imported; native code and access to frames.
  A string that the script compiles is checked like a script.
- Paths such as pandas.io.common.os, found by scope.examine: checked when the script's import has loaded the module.

C functions have no frames: numpy.fromfile and array.tofile count as actions of the script, while numpy.load does not.
Not detected: `operator.attrgetter` of a computed name, `module.__dict__[computed]`, sys.modules[computed] if sys is
allowed. What is then done with the module still raises the events.
"""

import ast
import linecache
import sys
import types
from _thread import get_ident

from . import scope, scope_members
from .scope_callers import Callers
from .scope_events import operation_of
from .scope_imports import ImportGuard
from .scope_rules import INTROSPECTION, Rules

_getframe, _module_type = sys._getframe, types.ModuleType

violations = []
"""The refusal, in the form of scope.check. It stays, whatever the script does with the exception."""


class ScopeViolation(BaseException):
    """Not an Exception, and so not an ImportError: a script that handles a missing module must not swallow it."""


def install(rules, filename, variables=None, paths=(), on_violation=None, guarded=()):
    """Installs the guard in this process.

    `variables` are the script's globals, `paths` come from scope.examine, and `guarded` are the lines of optional imports.

    `on_violation(record)` is called at once and should end the process; if it returns, ScopeViolation is raised.
    """
    rules = rules if isinstance(rules, Rules) else Rules(rules)
    if not rules.is_empty:
        _Guard(rules, filename, variables, paths, on_violation, guarded).install()


class _Guard:
    def __init__(self, rules, filename, variables, paths, on_violation, guarded):
        self._rules = rules
        self._filename = filename
        self._variables = variables
        self._paths = list(paths)
        self._on_violation = on_violation
        # A module, as in plain Python: a script that prints its variables does not print all builtins.
        self._stand_in = _module_type("builtins")
        self._builtins = vars(self._stand_in)
        self._builtins.update(vars(sys.modules["builtins"]))
        self._callers = Callers(rules, filename, self._builtins if variables is not None else None)
        self._busy = set()
        self._imports = ImportGuard(rules, self._callers, self._busy, self._stand_in, self._refuse, self._judge_paths,
                                    lambda frame: frame.f_lineno in guarded and frame.f_code.co_filename == filename)

    def install(self):
        self._builtins["__import__"] = self._imports.install()
        self._replace_builtins()
        if self._variables is not None:
            self._variables["__builtins__"] = self._stand_in
        self._judge_paths()
        handlers = self._handlers()
        busy = self._busy

        def hook(event, arguments):
            handler = handlers.get(event)
            if handler is None or get_ident() in busy:
                return
            busy.add(get_ident())  # the guard itself raises events, too
            try:
                handler(event, arguments, _getframe(1))
            finally:
                busy.discard(get_ident())

        sys.addaudithook(hook)

    def _refuse(self, rule, what, message, frame, line=None, column=None):
        place = self._callers.script_frame(frame)
        if line is None and place is not None:
            line, column = place.f_lineno, _column(place, self._filename)
        record = {"line": line, "column": column, "rule": rule, "what": what, "message": message}
        violations.append(record)
        if self._on_violation is not None:
            self._busy.add(get_ident())  # reporting is not an action of the script
            self._on_violation(record)
            self._busy.discard(get_ident())
        raise ScopeViolation(f"line {line}: {message}" if line else message)

    def _judge_paths(self):
        for line, offset, path in self._paths:
            if refusal := scope_members.judge_loaded(path.split("."), self._rules):
                self._refuse(*refusal, None, line, _character(self._filename, line, offset))

    # Builtins

    def _replace_builtins(self):
        for name in self._rules.builtins & self._builtins.keys() - {"__import__"}:
            self._builtins[name] = self._refusing(name)
        real_getattr, real_vars, introspects = getattr, vars, self._rules.forbids_introspection

        def guarded_getattr(target, name, *default):
            if introspects and name in INTROSPECTION:
                self._refuse("introspection", name, self._rules.describe_introspection(name), _getframe(1))
            value = real_getattr(target, name, *default)
            if isinstance(value, _module_type) and (refusal := scope_members.judge_module(value, self._rules)):
                self._refuse(*refusal, _getframe(1))
            return value

        def guarded_vars(*target):
            if not target:
                return _getframe(1).f_locals
            if introspects and isinstance(target[0], _module_type) and target[0].__name__ != "__main__":
                self._refuse("introspection", "vars", self._rules.describe_introspection("vars"), _getframe(1))
            return real_vars(*target)

        for function in (guarded_getattr, guarded_vars):
            function.__name__ = function.__qualname__ = function.__name__.removeprefix("guarded_")
            function.__module__ = "builtins"
            self._builtins[function.__name__] = function

    def _refusing(self, name):
        def refuse(*arguments, **named):
            self._refuse("builtin", name, self._rules.refuses_builtin(name), _getframe(1))

        refuse.__name__ = refuse.__qualname__ = name
        return refuse

    # Events

    def _handlers(self):
        handlers = dict.fromkeys(operation_of, self._on_operation)
        handlers |= {"compile": self._on_compile, "exec": self._on_exec, "pickle.find_class": self._on_find_class}
        handlers["builtins.breakpoint"] = lambda event, arguments, frame: self._imports.check("pdb", frame)
        if self._rules.forbids_introspection:
            names = ("sys._getframe", "sys._current_frames", "gc.get_objects", "gc.get_referrers", "gc.get_referents",
                     "code.__new__", "marshal.loads", "object.__getattr__", "function.__new__")
            handlers |= dict.fromkeys(names, self._on_introspection)
        return handlers

    def _on_operation(self, event, arguments, frame):
        kind, is_harmless = operation_of[event]
        reason = self._rules.refuses_operation(kind, event)
        if reason is None or is_harmless(arguments, (*self._callers.folders, self._filename)):  # tracebacks read its lines
            return
        who, _ = self._callers.responsible(frame)
        is_for_everybody = kind in ("process", "network")
        if who == "own" or (is_for_everybody and who != "import") or (who == "nobody" and self._is_thread()):
            self._refuse("operation", kind, reason, frame)

    def _is_thread(self):
        threading = sys.modules.get("threading")
        return threading is not None and threading.main_thread().ident != get_ident()

    def _on_compile(self, event, arguments, frame):
        source = arguments[0]
        if source is None or (frame.f_globals.get("__name__") == "ast" and not isinstance(source, ast.AST)):
            return  # ast.parse only parses; compiling the tree is checked
        who, own = self._callers.responsible(frame)
        if who != "own" or not isinstance(source, (str, bytes, ast.AST)):
            return
        for found in scope.check(source, "<text>", self._rules):
            where = f' (line {found["line"]} of a string that is run as code)'
            self._refuse(found["rule"], found["what"], found["message"] + where, own)

    def _on_exec(self, event, arguments, frame):
        """A loader could run a library's file under another name."""
        code = arguments[0]
        path = getattr(code, "co_filename", "")
        folder = next((folder for folder in self._callers.folders if path.startswith(folder)), None)
        if folder is None or code.co_name != "<module>" or self._callers.importer(frame) is None:
            return
        name = path[len(folder) :].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self._imports.check(name, frame)

    def _on_find_class(self, event, arguments, frame):
        """Pickles name modules themselves: a blocked name stays blocked, whichever code reads the pickle."""
        module, name = arguments
        is_blocked_builtin = module == "builtins" and (name in self._rules.builtins or name in ("getattr", "vars"))
        if is_blocked_builtin and self._rules.builtins:
            self._refuse("builtin", name, f'the profile "{self._rules.profile}" blocks {name} in a pickle', frame)
        reason = self._rules.refuses_import(module)
        if reason and (self._rules.blocks_by_name(module) or self._callers.responsible(frame)[0] == "own"):
            self._refuse("import", module, reason, frame)

    def _on_introspection(self, event, arguments, frame):
        name = arguments[1] if event == "object.__getattr__" else event
        is_meant = name in INTROSPECTION or event != "object.__getattr__"
        if is_meant and self._callers.is_own(frame):
            self._refuse("introspection", name, self._rules.describe_introspection(name), frame)


def _column(frame, filename):
    if not hasattr(frame.f_code, "co_positions") or frame.f_lasti < 0:
        return None
    positions = list(frame.f_code.co_positions())
    offset = positions[frame.f_lasti // 2][2] if frame.f_lasti // 2 < len(positions) else None
    return None if offset is None else _character(filename, frame.f_lineno, offset)


def _character(filename, line, offset):
    text = linecache.getline(filename, line)
    return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1 if text else offset + 1
