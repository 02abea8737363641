"""Imports an environment's modules once, inside jail 1, then forks supervisors, which fork workers, on order.

The guard (guard.py) is outside: it passes on the orders of the server, with the connection of each supervisor, and ends
this process when it exceeds the limits of loading packages.
"""

# isort: off
from . import neighbours

neighbours.gather()

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import sys

# Every module that a worker needs is imported once, before the jail hides it and before the first fork.
from .. import harness
from ..jail import landlock, seccomp, system
from ..jail.tier import TIERS
from ..limits import cgroup_keeper, limits, load_limits, processors, run_group, watch
from . import called_script, display_hooks, font_list, fork_hooks, guard, guard_door, late_modules, memory_file, packages, process_title, script_end
from . import started_as, streams, supervisor, worker


# How long supervisors that have ended are zombies if no order comes.
_REAP_SECONDS = 5
# A server with at most so many supervisors has one run, as `pungi run` does, or one at a time: moving the memory would take longer.
_OF_ONE_RUN = 3


def main():
    gc.freeze()  # modules stay: collections after this leave them alone
    line = _read_line()
    if not line:
        return  # it was started ahead, and is not needed
    settings = json.loads(line)
    system.prepare_siblings()
    groups = cgroup_keeper.start(settings.get("cgroups"))
    settings["tier"] = TIERS[settings["tier"]]
    guard.run({**settings, "processors": processors.count()}, groups, _become_fork_server)


def _become_fork_server(settings, door):
    tier = settings["tier"]
    try:
        proxy = os.open(settings["network"]["socket"], os.O_PATH) if settings.get("network") else None
        tier.enter(settings)
        guard_door.stay_with_guard(door)
        # Before packages are loaded: none of their code is in it.
        settings["network"] = None if proxy is None else tier.start_forwarder(proxy)
        os.umask(0o077)
        _limit(settings)
        limits.prepare()
        _prepare_workers(settings)
        tier.replace_functions()
    except Exception as error:
        guard_door.send_report(door, failed=f"{error}")
        os._exit(75)
    guard_door.wait_to_load(door)
    longest = settings.get("longestImport", packages.LONGEST_IMPORT)
    started_as.clear_flags()
    with fork_hooks.noticing_packages():
        packages.load(door, settings["preload"], settings.get("surelyUsed", ()), longest, settings.get("learned", ()))
    display_hooks.install()
    streams.prepare()
    called_script.rehearse()
    harness.rehearse()
    # Validation scripts start by the one that stays.
    late_modules.hide(harness.__name__)
    tier.settle_home()
    gc.collect()
    memory = memory_file.prepare() if settings["mostSupervisors"] > _OF_ONE_RUN else []
    gc.freeze()
    _move_into_file(memory, door)
    guard_door.send_report(door, ready=True)
    _serve(settings, door)


def _read_line():
    """Reads a line without buffering: the bytes after it belong to the next read."""
    line = bytearray()
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


def _limit(settings):
    """Limits for all that follows: packages, supervisors and their workers. The guard enforces the rest."""
    memory = load_limits.memory_bytes(settings)
    # As wide as the widest that a worker sets for itself. Of cores one byte: at 0 the kernel still starts a host's program that takes them.
    bounds = {"CORE": 1, "MEMLOCK": 0, "DATA": max(2 * memory, memory + (1 << 30)), "FSIZE": settings["diskMb"] << 20}
    for name, value in bounds.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))


def _prepare_workers(settings):
    """Prepares what all of them need and no package may change; the filter of packages stays on all forked processes."""
    tier, has_data = settings["tier"], bool(settings["data"])
    seccomp.prepare(tier.has_namespaces, has_data)
    landlock.abi()
    folder = tier.temporary_folder(settings)
    os.environ.update(HOME=folder, TMPDIR=folder)
    started_as.set_variables()
    font_list.find(os.environ.get("VIRTUAL_ENV", sys.prefix))
    font_list.offer(folder)
    os.environ.update(processors.variables(settings["processors"]))
    started_as.leave_own_folder()
    process_title.prepare()
    tier.filter_packages(has_data)


def _move_into_file(memory, door):
    whole = sum(size for _, size, _ in memory)
    file = guard_door.borrow(door, whole) if memory else None
    if file is not None:
        memory_file.move(memory, file)
        os.close(file)
        script_end.note_shared(whole)


def _serve(settings, door):
    children = {}
    pending = b""
    while True:
        if not select.select([door], (), (), _REAP_SECONDS)[0]:
            _reap(children, settings["tier"])
            continue
        # A read ends after a message with descriptors: they belong to its order to start.
        chunk, fds, _, _ = socket.recv_fds(door, 65536, 2 + run_group.MOST_DESCRIPTORS)
        if not chunk:
            return
        *lines, pending = (pending + chunk).split(b"\n")
        for line in filter(None, lines):
            order = json.loads(line)
            if "kill" in order:
                _kill(children, order["kill"])
            else:
                with contextlib.ExitStack() as received:
                    channel, *files = [received.enter_context(socket.socket(fileno=fd)) for fd in fds[: order["sockets"]]]
                    group = received.enter_context(run_group.received(order["group"], fds[order["sockets"] :]))
                    about = {**settings, "aboutGroup": order["aboutGroup"]}
                    pid = supervisor.start(about, order["start"], channel, door, group, *files or [None])
                    children[pid] = order["start"]
        _reap(children, settings["tier"])


def _kill(children, name):
    """The server's last resort for a supervisor that does not answer."""
    for pid in [pid for pid, started_as in children.items() if started_as == name]:
        below = watch.descendants_of(pid)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        del children[pid]
        for left in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)


def _reap(children, tier):
    """Zombies are collected with the next order, or when none comes; an orphan (its supervisor died) is ended as well."""
    try:
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            children.pop(pid, None)
    except ChildProcessError:
        return
    if not tier.has_namespaces and system.IS_LINUX:
        for pid in set(watch.children_of(os.getpid())) - children.keys():
            os.kill(pid, signal.SIGKILL)
