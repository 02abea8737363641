"""How a line at a prompt may go on: names, attributes, keys and modules, from the variables of a session or of a fresh worker.

Nothing is imported and no variable changes. Foreign code can take part, as with rlcompleter: `__dir__` of an object, and attributes
of the names that the line has already. It can be interrupted, and nobody relies on its answer.
"""

import builtins
import keyword
import os
import re
import sys
from importlib.machinery import all_suffixes

from ..calls.contents import is_a

_MOST, _LONGEST, _MOST_ENTRIES = 1000, 200, 20_000
_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_FROM = re.compile(rf"^\s*from\s+({_DOTTED})\s+import\s+(?:.*[\s,(])?(\w*)$")
_IMPORT = re.compile(rf"^\s*(?:from\s+|import\s+(?:.*[\s,])?)((?:{_DOTTED}\.?)?)$")
_KEY = re.compile(rf"({_DOTTED})\[(['\"])([^'\"\\]*)$")
_ATTRIBUTE = re.compile(rf"(?:^|[^\w.)\]'\"])({_DOTTED})\.(\w*)$")
_NAME = re.compile(r"(?:^|[^\w.])(\w*)$")
_SUFFIXES = tuple(all_suffixes())


def complete(text, scope):
    """`text`: the line before the cursor. Returns what may take the place of its last word, and the length of that word."""
    for pattern, find in _FINDERS:
        if found := pattern.search(text):
            start, names = find(scope, *found.groups())
            fitting = {name for name in names if type(name) is str and name.startswith(start) and len(name) <= _LONGEST}
            return {"completions": sorted(fitting, key=_order)[:_MOST], "length": len(start)}
    return {"completions": [], "length": 0}


def complete_in_session(text, session):
    """Whatever foreign code does, the session goes on."""
    answer = {}
    try:
        session.begin()
        answer = complete(text, session.main.__dict__)
    except BaseException:
        pass  # interrupted, or raised by foreign code
    session.end()
    return answer


def _order(name):
    """Private names come last."""
    return name.startswith("_"), name.startswith("__"), name


def _visible(names, start):
    """Identifiers, private ones only where they are asked for."""
    found = [name for name in names if type(name) is str and name.isidentifier()]
    return found if start.startswith("_") else [name for name in found if not name.startswith("_")]


def _find_names(scope, start):
    return start, [] if start.isdigit() else _visible([*keyword.kwlist, *vars(builtins), *scope], start)


def _find_attributes(scope, path, start):
    return start, _visible(dir(_value_of(scope, path)), start)


def _find_keys(scope, path, quote, start):
    value = _value_of(scope, path)
    method = getattr(type(value), "_ipython_key_completions_", None)
    has_keys = isinstance(value, dict) or is_a(value, "pandas", "DataFrame")
    keys = list(method(value)) if method is not None else list(value.keys()) if has_keys else []
    return start, [f"{key}{quote}]" for key in keys if type(key) is str and quote not in key and "\\" not in key and key.isprintable()]


def _find_modules(scope, path):
    parent, dot, start = path.rpartition(".")
    names = _submodules(parent) if dot else (*sys.builtin_module_names, *sys.stdlib_module_names, *_modules_in(sys.path))
    return start, _visible(names, start)


def _find_members(scope, path, start):
    module = sys.modules.get(path)
    return start, _visible([*(() if module is None else dir(module)), *_submodules(path)], start)


def _value_of(scope, path):
    first, *rest = path.split(".")
    value = scope[first] if first in scope else vars(builtins)[first]
    for name in rest:
        value = getattr(value, name)
    return value


def _submodules(path):
    """Of a package that may not be imported yet: the folder of its name."""
    module = sys.modules.get(path)
    folders = getattr(module, "__path__", None)
    if folders is None and module is None:
        folders = [os.path.join(folder, *path.split(".")) for folder in sys.path]
    return _modules_in(folders or ())


def _modules_in(folders):
    left = _MOST_ENTRIES
    for folder in list(folders):
        try:
            with os.scandir(folder or ".") as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return
                    name = entry.name.partition(".")[0]
                    is_module = entry.name.endswith(_SUFFIXES) or (entry.name == name and entry.is_dir())
                    if is_module and name.isidentifier() and name not in ("__init__", "__pycache__"):
                        yield name
        except (OSError, TypeError, ValueError):
            continue  # not a folder


_FINDERS = (
    (_FROM, _find_members), (_IMPORT, _find_modules), (_KEY, _find_keys), (_ATTRIBUTE, _find_attributes), (_NAME, _find_names),
)
