"""Imports an environment's modules once, inside jail 1, then forks supervisors, which fork workers, on order.

stdin: a line of JSON settings, then lines of JSON: {"start": ID, "token": TEXT} for each supervisor, {"kill": ID} for one
that does not answer; its end ends us.
stderr: for people. A failure to start is told there as one line of JSON {"failed": REASON}.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import sys

# Everything that a worker runs is imported once, before the jail hides it and before the first fork.
from . import called_script, data_folders, exercises, host_jail, landlock, network_forwarder, seccomp, supervisor, system, watch
from . import harness, worker

_LONGEST_IMPORT = 8


def main():
    settings = json.loads(_read_line())
    settings["socket"] = _hold_socket(settings["socket"])
    proxy = os.open(settings["network"]["socket"], os.O_PATH) if settings.get("network") else None
    try:
        _enter_jail(settings)
        # Before packages are loaded: none of their code is in it.
        settings["network"] = None if proxy is None else network_forwarder.start(settings["tier"], proxy)
        os.umask(0o077)
        _load_site_packages()
        surely_used = settings.get("surelyUsed", ())
        _preload(settings["preload"], surely_used)
        exercises.go_through(surely_used)
    except Exception as error:
        print(json.dumps({"failed": f"{error}"}), file=sys.stderr, flush=True)
        os._exit(75)
    seccomp.prepare(settings["tier"] == "namespace", bool(settings["data"]))
    landlock.abi()
    for limit in ("RLIMIT_CORE", "RLIMIT_MEMLOCK"):
        if hasattr(resource, limit):
            resource.setrlimit(getattr(resource, limit), (0, 0))
    worker.prepare_streams()
    called_script.rehearse()
    harness.rehearse()
    if settings["tier"] == "namespace":
        os.environ.update(HOME=host_jail.WORK, TMPDIR=host_jail.TMP, PWD=host_jail.WORK)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _serve(settings)


def _read_line():
    """A line without buffering: whatever follows it belongs to the next read."""
    line = bytearray()
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


def _hold_socket(path):
    """A name by which supervisors reach the server's socket and nothing beside it, though no jail shows its folder."""
    return f"/proc/self/fd/{os.open(path, os.O_PATH)}" if system.IS_LINUX else path


def _enter_jail(settings):
    if settings["tier"] == "namespace":
        host_jail.enter_namespaces(settings)
    elif settings["tier"] == "landlock":
        host_jail.enter_landlock(settings)
    else:
        _enter_nothing(settings)


def _enter_nothing(settings):
    if os.getuid() == 0:
        host_jail.become(settings["uid"])
        host_jail.check_reachable()
    data_folders.check(settings["data"], data_folders.outside(settings["data"]))
    host_jail.enter_bare_folder(settings)
    if system.IS_LINUX:
        system.die_with_parent()
        system.become_subreaper()


def _load_site_packages():
    """The interpreter starts with -S: .pth files are code of packages, so they run only now, in the jail."""
    import site

    site.main()


def _preload(modules, of_runs=()):
    """Those that runs bring along have little time: a script must not keep the others of its place waiting."""
    for name in modules:
        try:
            with _deadline(_LONGEST_IMPORT if name in of_runs else 0):
                __import__(name)
        except BaseException as error:  # a module may want to end the interpreter, too
            absent = isinstance(error, ModuleNotFoundError) and error.name == name
            said = {"notPreloaded": name, "isAbsent": absent, "reason": f"{type(error).__name__}: {error}"}
            print(json.dumps(said), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _deadline(seconds):
    def give_up(number, frame):
        raise TimeoutError(f"it took longer than {seconds} seconds")

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _serve(settings):
    children = {}
    pending = b""
    while chunk := os.read(0, 65536):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in filter(None, lines):
            order = json.loads(line)
            if "kill" in order:
                _kill(children, order["kill"])
            else:
                children[supervisor.start(settings, order["start"], order["token"])] = order["start"]
        _reap(children, settings["tier"])


def _kill(children, name):
    """The server's last resort for a supervisor that does not answer."""
    for pid in [pid for pid, started_as in children.items() if started_as == name]:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        del children[pid]


def _reap(children, tier):
    """Zombies are collected with the next order; an orphan (its supervisor died) is ended as well."""
    try:
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            children.pop(pid, None)
    except ChildProcessError:
        return
    if tier != "namespace" and system.IS_LINUX:
        for pid in set(watch.children_of(os.getpid())) - children.keys():
            os.kill(pid, signal.SIGKILL)
