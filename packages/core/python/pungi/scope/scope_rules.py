"""The rules of a profile, applied to one name at a time. Shared by the check before the run and the guard during it.
"""

# Modules with the same content under another name: a rule for the first applies to the second.
_ALIASES = {
    "posix": "os", "nt": "os", "posixpath": "os.path", "ntpath": "os.path", "genericpath": "os.path",
    "_posixsubprocess": "subprocess", "_thread": "threading", "_pyio": "io", "_imp": "importlib",
    "_frozen_importlib": "importlib", "_frozen_importlib_external": "importlib", "imp": "importlib",
    "urllib3": "urllib", "cPickle": "pickle",
}
# A directive for the compiler, which imports nothing.
_ALWAYS_ALLOWED = {"__future__"}
# Functions that raise no audit event: blocked together with the operation.
_IMPLIED_BLOCKS = {"process": ("_posixsubprocess",), "network": (), "file": ()}

_MOST_NAMED = 12

INTROSPECTION = frozenset({
    "__subclasses__", "__bases__", "__base__", "__mro__", "__globals__", "__code__", "__closure__", "__func__", "__self__",
    "__builtins__", "__import__", "__loader__", "__spec__", "__getattribute__", "__reduce__", "__reduce_ex__",
    "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code", "ag_frame", "ag_code", "tb_frame", "tb_next",
    "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "co_code", "co_consts", "_getframe", "_current_frames",
})


class Rules:
    """A profile's rules. An entry covers its submodules; the longest matching entry of allowed and blocked wins."""

    def __init__(self, data):
        self.profile = data.get("profile") or "default"
        allowed = data.get("allowedImports")
        self.allowed = None if allowed is None else tuple(allowed)
        self._allowed_text = _format_allowed(self.allowed or ())
        self.operations = frozenset(data.get("blockedOperations") or ())
        implied = [name for operation in self.operations for name in _IMPLIED_BLOCKS.get(operation, ())]
        self.blocked = (*(data.get("blockedImports") or ()), *implied)
        self.builtins = frozenset(data.get("blockedBuiltins") or ())
        self.brought = dict(map(bound_by_import, data.get("defaultImports") or ()))

    @property
    def is_empty(self):
        return self.allowed is None and not (self.blocked or self.builtins or self.operations)

    @property
    def forbids_introspection(self):
        """Introspection matters only if the profile blocks some name, because it offers other ways to it."""
        return self.allowed is not None or bool(self.builtins) or "introspection" in self.operations

    def refuses_import(self, name):
        """Returns why this module may not be imported, or None."""
        if name.partition(".")[0] in _ALWAYS_ALLOWED:
            return None
        names = {name, _canonical(name)}
        allowed = 0 if self.allowed is None else _longest(self.allowed, names)
        blocked = _longest(self.blocked, names)
        if blocked is not None and (allowed is None or blocked >= allowed):
            return f'the profile "{self.profile}" blocks the import of {name}'
        if allowed is None:
            return f'the profile "{self.profile}" does not allow the import of {name}; {self._allowed_text}'
        return None

    def blocks_by_name(self, name):
        """Blocked, not merely missing from the allowed modules."""
        return _longest(self.blocked, {name, _canonical(name)}) is not None

    def refuses_builtin(self, name):
        return f'the profile "{self.profile}" blocks {name}' if name in self.builtins else None

    def refuses_operation(self, kind, event):
        kinds = self.operations - {"introspection"} if kind == "native" else self.operations & {kind}
        return f'the profile "{self.profile}" blocks {_OPERATION_TEXTS[kind]} ({event})' if kinds else None

    def describe_introspection(self, name):
        return f'the profile "{self.profile}" does not allow looking inside the interpreter ({name})'

    def describe_nesting(self):
        return f'the profile "{self.profile}" does not allow code that is nested too deeply to be checked'


_OPERATION_TEXTS = {
    "file": "using files other than through the packages it allows",
    "process": "starting processes",
    "network": "using the network",
    "native": "calling native code",
}


def bound_by_import(text):
    """Returns the name that "module" or "module as name" binds, and the module that it refers to."""
    module, _, name = text.partition(" as ")
    top = module.partition(".")[0]
    return (name, module) if name else (top, top)


def _format_allowed(allowed):
    """Lists the allowed imports for the error message."""
    if not allowed:
        return "it allows none"
    more = f" and {len(allowed) - _MOST_NAMED} more" if len(allowed) > _MOST_NAMED else ""
    return f"allowed {'is' if len(allowed) == 1 else 'are'} {', '.join(allowed[:_MOST_NAMED])}{more}"


def _canonical(name):
    top, dot, rest = name.partition(".")
    if top in _ALIASES:
        return _ALIASES[top] + dot + rest
    # The C half of a standard module: _socket belongs to socket.
    return name[1:] if top.startswith("_") and not top.startswith("__") else name


def _longest(entries, names):
    lengths = [len(entry) for entry in entries for name in names if name == entry or name.startswith(f"{entry}.")]
    return max(lengths, default=None)
