"""Does what an interpreter does when it exits, in its order: threads, exit handlers, the script's objects; and flushes output.

The process then ends without tearing down the rest, which would only take time.
"""

import _thread
import atexit
import gc
import os
import sys
import threading
import types
import weakref
from functools import partial
from importlib.machinery import SourceFileLoader
from types import GeneratorType

try:
    import resource
except ImportError:  # Windows
    resource = None

from ..calls.endings import exit_status, flush_streams
from . import bursts
from .report import leave_out_own_frames
from .script import Ending

# A process that took more memory than this since its start is not torn down object by object, unless a variable asks for it.
_MOST_MEMORY_KB = 32 * 1024
# Memory of packages that becomes that of a process as it is used (memory_file.py).
_shared_kb = 0
_TPFLAGS_HAVE_GC = 1 << 14
_OWN_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
# Names in `sys` that are None while objects are torn down.
_DROPPED = {"path", "argv", "last_type", "last_value", "last_traceback", "last_exc", "path_hooks", "path_importer_cache", "meta_path"}
# Kept from before foreign code could replace them.
_excepthook, _collect, _run_exit_handlers = sys.excepthook, gc.collect, atexit._run_exitfuncs
_count_threads, _count_exit_handlers = _thread._count, atexit._ncallbacks
_end_of_threads, _exit_handlers_of_threading = threading._shutdown, threading._threading_atexits


def note_shared(size):
    """In the fork server."""
    global _shared_kb
    _shared_kb = size // 1024


class ScriptEnd:
    """Created when a script begins."""

    def __init__(self, folder):
        """`folder`: holds the script and its own modules."""
        self._folder = os.path.join(folder, "")
        self._modules_before = len(sys.modules)
        self._most_memory = _peak_kb() + _shared_kb + _MOST_MEMORY_KB

    def leave(self, status, is_module):
        """Steps of the worker (empty_stack.py); returns the exit status. `is_module`: a function of the script was called, and the
        script's module does not end."""
        has_handlers = _has_handlers()
        if has_handlers:
            _end_threads()
            yield _run_exit_handlers
        bursts.close()
        status = flush_streams(status, _say_ignored)
        try:
            if not is_module and self.is_worth_while():
                if not has_handlers:
                    _end_threads()
                yield from self._let_go_of_objects()
        except Exception:
            pass  # foreign code has changed what this looks at
        flush_streams(status)  # output of objects during the teardown no longer changes the status
        return status

    def is_worth_while(self):
        """Whether anything would happen. Daemon threads would go on while their variables vanish; in an interpreter that ends
        they do not."""
        main_module = sys.modules.get("__main__")
        if len(sys._current_frames()) > 1 or not isinstance(main_module, types.ModuleType):
            return False
        if _peak_kb() > self._most_memory:
            return any(map(_ends_with_effect, vars(main_module).values()))
        objects = gc.get_objects()  # those from before the script are frozen
        kinds = set(map(type, objects)) - _USUAL
        if any(map(_has_ending, kinds)):
            return True
        looks = {GeneratorType: _is_foreign} | {kind: _calls_back for kind in kinds if issubclass(kind, weakref.ref)}
        looks.update((kind, _is_untracked) for kind in kinds if issubclass(kind, type))
        return any(looks[type(each)](each) for each in objects if type(each) in looks)

    def _let_go_of_objects(self):
        """Steps: no frame of ours is below `__del__`, and warnings name no line of ours.

        To the script all modules are gone by then, but only its own really go.
        """
        yield _collect
        yield partial(sys.__dict__.update, dict.fromkeys(_DROPPED & sys.__dict__.keys()))
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        names = ["__main__", *filter(self._is_of_script, list(sys.modules)[self._modules_before :])]
        alive = [weakref.ref(sys.modules[name]) for name in names if isinstance(sys.modules[name], types.ModuleType)]
        for name in names:
            yield partial(sys.modules.__setitem__, name, None)
        # Taken out one by one, which writes to no module: its memory is shared with other workers.
        others = [sys.modules.popitem() for _ in range(len(sys.modules))]
        yield _collect
        for each in reversed(alive):
            if (variables := getattr(each(), "__dict__", None)) is not None:
                yield from _clear(variables)

    def _is_of_script(self, name):
        file = getattr(sys.modules[name], "__file__", None)
        return isinstance(file, str) and file.startswith(self._folder)


def _clear(variables):
    """Clears a module that something still holds: private names first, as the interpreter does."""
    names = [name for name in variables if isinstance(name, str) and name != "__builtins__"]
    for name in sorted(names, key=lambda name: not (name.startswith("_") and not name.startswith("__"))):
        yield partial(variables.__setitem__, name, None)


def _has_handlers():
    """Whether anything waits for the end of the interpreter: threads, or functions."""
    if _count_threads() > 0 or _count_exit_handlers() > 0 or _exit_handlers_of_threading:
        return True
    return threading._shutdown is not _end_of_threads  # gevent waits there for its own


def _end_threads():
    try:
        threading._shutdown()
    except BaseException:
        sys.excepthook(*sys.exc_info())


# The kinds of objects that every script has. Deleting them has no effect; generators are looked at one by one.
_USUAL = {
    dict, list, tuple, types.CellType, types.FunctionType, GeneratorType, types.ModuleType, SourceFileLoader, Ending, ScriptEnd,
}


def _has_ending(kind):
    """Whether deleting any object of the class has an effect; generators, coroutines, tasks and files have `__del__`, too."""
    return hasattr(kind, "__del__")


def _ends_with_effect(each):
    return _has_ending(type(each)) or (issubclass(type(each), weakref.ref) and _calls_back(each))


def _calls_back(reference):
    """Whether a weak reference calls a function that is not one of the caches of abstract classes."""
    call = reference.__callback__
    return call is not None and not (type(call) is types.BuiltinFunctionType and call.__name__ == "_destroy")


def _is_foreign(generator):
    """The worker's own steps are generators, too."""
    return not generator.gi_code.co_filename.startswith(_OWN_FOLDER)


def _is_untracked(kind):
    """Whether it has `__del__`, but the garbage collector does not know its objects."""
    return not kind.__flags__ & _TPFLAGS_HAVE_GC and hasattr(kind, "__del__")


def _peak_kb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if resource is not None else 0


def _find_type_of_ignored():
    """The argument of sys.unraisablehook has a type that no module names."""

    class Failing:
        def __del__(self):
            raise ValueError

    found, before = [], sys.unraisablehook
    sys.unraisablehook = lambda ignored: found.append(type(ignored))
    Failing()
    sys.unraisablehook = before
    return found[0]


_Ignored = _find_type_of_ignored()


def _say_ignored(stream, error):
    leave_out_own_frames(error)
    about = ("Exception ignored on flushing sys.stdout", None) if sys.version_info >= (3, 13) else (None, stream)
    try:
        sys.unraisablehook(_Ignored((type(error), error, error.__traceback__, *about)))
    except BaseException:
        pass  # there is no way to report it


def call_excepthook(error, is_child):
    """Calls the script's own hook for the exception that ended it; returns the exit status that it asks for.

    The worker reports the exception instead of printing it. `is_child`: a process that the script forked, whose exceptions nobody
    reports."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", _excepthook)
    if hook is _excepthook and not is_child:
        return 1
    if is_child:
        leave_out_own_frames(error)
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit as exit:
        return exit_status(exit)
    except BaseException as failure:
        failure.__context__ = None
        leave_out_own_frames(failure)
        print("Error in sys.excepthook:", file=sys.stderr)
        _excepthook(type(failure), failure, failure.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        _excepthook(type(error), error, error.__traceback__)
    return 1
