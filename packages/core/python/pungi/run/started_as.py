"""Makes the fork server's interpreter look as if it had been started by `python main.py` in its environment.

It really starts with -I -S, so that nothing of the host and no package is loaded outside of the jail. Libraries pass the flags of
an interpreter on to those that they start (multiprocessing, joblib), which then would lack their packages.
"""

import contextlib
import ctypes
import os
import site
import sys
import warnings

_PLAIN_FLAGS = {"isolated": 0, "ignore_environment": 0, "no_user_site": 0, "no_site": 0, "safe_path": False}
# Loaded when a script begins; ours is not a module of the script.
_AT_START = {
    "__main__", "_collections_abc", "_sitebuiltins", "abc", "codecs", "encodings", "genericpath", "io", "os", "posixpath", "site", "stat",
    "zipimport", "pungi",
}
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_USER = "sandbox"
# If a run has a pip, of a package or self-made, it fails at once instead of asking for 8 seconds.
_PIP = {"PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def set_variables():
    """Inside the jail, before packages are loaded: sets the variables of an activated environment, and of a logged-in user."""
    os.environ.update(variables_for(sys.executable))


def variables_for(python):
    folder = os.path.dirname(python)
    user = _user_name()
    path = os.pathsep.join(dict.fromkeys((folder, *_SYSTEM_PATH)))
    found = {"PATH": path, "USER": user, "LOGNAME": user, "SHELL": "/bin/sh", "TERM": "dumb", **_PIP}
    if os.path.exists(os.path.join(os.path.dirname(folder), "pyvenv.cfg")):
        found["VIRTUAL_ENV"] = os.path.dirname(folder)
    return found


def _user_name():
    """Without its own root, a run cannot read the accounts of the host."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return _USER


def clear_flags():
    """Before `site`, which reads them, is loaded in the jail. No interpreter starts outside the jail from now on."""
    names = type(sys.flags).__match_args__
    for name, value in _PLAIN_FLAGS.items():
        if name in names:
            _set_item(sys.flags, names.index(name), value)
    with contextlib.suppress(ValueError):  # without it, sys.breakpointhook does not see PYTHONBREAKPOINT
        ctypes.c_int.in_dll(ctypes.pythonapi, "Py_IgnoreEnvironmentFlag").value = 0


def leave_own_folder():
    """Removes the folder of this program from the import path: every module that a worker needs has been imported or read."""
    with contextlib.suppress(ValueError):
        sys.path.remove(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def settle_home(**variables):
    """Called once the folders of runs are known: replaces what `site` derived from the former home."""
    os.environ.update(variables)
    site.USER_BASE = site.USER_SITE = None
    site.getusersitepackages()


def take_variables(variables):
    """Applies those variables of the request that an interpreter reads when it starts."""
    if variables.get("PYTHONDONTWRITEBYTECODE"):
        sys.dont_write_bytecode = True
        _set_item(sys.flags, type(sys.flags).__match_args__.index("dont_write_bytecode"), 1)
    if options := variables.get("PYTHONWARNINGS"):
        sys.warnoptions.extend(options.split(","))
        with contextlib.suppress(Exception):  # of a module that it names
            warnings._processoptions(sys.warnoptions)


def added_paths(variables):
    """The entries of PYTHONPATH, which imports search after the script's own folder."""
    return [os.path.abspath(path) for path in variables.get("PYTHONPATH", "").split(os.pathsep) if path]


def forget_shadowed(paths, *folders):
    """Modules that are loaded, though not in an interpreter that has just started, and that a file of the script hides there.

    `paths`: the files that the script gets, and its own. `folders`: where it lies, if it is not among them."""
    hidden = {_module_of(path) for path in paths} & sys.modules.keys()
    if folders:  # which may be large: they are not listed
        hidden |= {name for name in sys.modules if "." not in name and any(_has_module(folder, name) for folder in folders)}
    for name in hidden - _AT_START:
        if getattr(getattr(sys.modules[name], "__spec__", None), "has_location", False):  # no file hides one that is built in or frozen
            for each in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
                del sys.modules[each]


def _has_module(folder, name):
    return os.path.exists(os.path.join(folder, f"{name}.py")) or os.path.exists(os.path.join(folder, name, "__init__.py"))


def _module_of(path):
    """The top-level module of a file in the work folder."""
    return path.removesuffix("/__init__.py" if "/" in path else ".py")


def _set_item(sequence, index, value):
    """Sets a field of a structure that Python code cannot change. Takes over a reference to the value."""
    change = ctypes.pythonapi.PyStructSequence_SetItem
    change.restype, change.argtypes = None, (ctypes.py_object, ctypes.c_ssize_t, ctypes.py_object)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    change(sequence, index, value)
