"""Jail 2: separates one run from the next, from its supervisor and from the fork server."""

import contextlib
import os
import sys
from typing import NamedTuple

from . import file_gate, landlock, seccomp, system
from .host_jail import CGROUPS, SHM, TERMINALS, TMP, WORK, device_rules, visible_paths
from .system import MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_RDONLY, MS_REC, MS_REMOUNT

# Files of its own entry in the host's /proc; not net, which shows the host's sockets.
_OWN_PROC = ("stat", "statm", "status", "cmdline", "comm", "maps", "limits", "fd")
# Figures of the machine, which the namespace tier shows as well.
_MACHINE_PROC = ("cpuinfo", "meminfo", "loadavg", "uptime", "version", "stat", "filesystems", "sys/kernel/osrelease", "sys/kernel/random")

_CGROUP_LIMITS = {
    "": ("memory.max", "memory.high", "cpu.max"),
    "memory": ("memory.limit_in_bytes",),
    "cpu": ("cpu.cfs_quota_us", "cpu.cfs_period_us"),
}
# Each of them can hold 1.3 MB that no limit counts.
_MOST_TERMINALS = 16


class Place(NamedTuple):
    """The place where a supervisor parks its workers: the same for each of them."""

    # tier.py
    tier: object
    # The folders that they may write to (box.py).
    box: object
    # The landlock rules that they enter, as an open file; None if each makes its own, or there are none.
    rules: int | None
    # See Tier.tasks_counted_outside.
    tasks_outside: int | None
    # The template that forks them (template.py), or None: then their supervisor does.
    template: object | None = None
    # The cgroup of the runs (run_group.py), and its description; None without a cgroup.
    group: object = None
    about_group: dict | None = None
    # The gate, if signals need permission (signal_gate.py).
    gate: object | None = None
    # The network of the runs (loopback.py), or None.
    loopback: object | None = None
    # The socket to the file keeper, which changes modes and times of their files (file_keeper.py), if runs may not.
    files: object | None = None


def settle_in_namespaces(identity):
    """In the supervisor, once: sets its identity and mounts a new /proc. It keeps the rights to mount inside its namespace."""
    system.map_only(*identity)
    system.mount(None, "/", flags=MS_PRIVATE | MS_REC)
    system.mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    with contextlib.suppress(OSError):  # not every kernel lets a user namespace have its own
        options = f"newinstance,ptmxmode=0666,mode=0600,max={_MOST_TERMINALS}"
        system.mount("devpts", TERMINALS, "devpts", MS_NOSUID | MS_NOEXEC, options)


def raise_walls(box, loopback):
    """In the supervisor of the namespace tier, once: the rules of all its workers. Returns the landlock rules, if any."""
    # Also for kernels without landlock: no process writes to /proc from here on.
    system.mount(None, "/proc", flags=MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    rules = None
    if landlock.abi() > 0:
        writable = [(folder, landlock.WRITE) for folder in (WORK, TMP, SHM)]
        devices = [*device_rules(), (TERMINALS, landlock.TERMINAL)]
        rules = landlock.make_ruleset([("/", landlock.READ), *devices, *writable], rules_network=loopback is None)
    system.forbid_new_privileges()
    seccomp.install(has_namespaces=True, has_data=bool(box.data), has_flock=not box.data)
    return rules


def restrict_by_landlock(box):
    """In the worker of the landlock tier: from here on it can read visible files and write only to its own folders."""
    readable = [(path, landlock.READ) for path in visible_paths([*sys.path])]
    readable += [(path, landlock.DATA) for path in box.data.values()]
    own_proc = [(f"/proc/{os.getpid()}/{name}", landlock.READ) for name in _OWN_PROC]
    own_proc += [(f"/proc/{name}", landlock.DATA) for name in _MACHINE_PROC]
    own_proc += [(path, landlock.DATA) for path in _limits_of_cgroup()]
    writable = [(folder, landlock.WRITE) for folder in (box.work, box.temporary, box.shared)]
    system.forbid_new_privileges()
    landlock.restrict([*readable, *own_proc, *device_rules(), *writable])


def _limits_of_cgroup():
    """The files that show the limits of the own cgroup: DuckDB and others read them, and end if they cannot."""
    path = f"/proc/{os.getpid()}/cgroup"
    yield path
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    for _, controllers, place in lines:
        for controller in controllers.split(","):
            for folder in {"", place.rstrip("/")}:
                for name in _CGROUP_LIMITS.get(controller, ()):
                    yield os.path.normpath(f"{CGROUPS}/{controller}{folder}/{name}")


def lock_worker(place):
    """In the worker or its template, last. Returns the names of the restrictions in force."""
    tier = place.tier
    system.drop_capabilities()
    has_data, asks_attributes = bool(place.box.data), place.files is not None
    if not tier.has_namespaces:  # else its supervisor has put the filter on itself
        seccomp.install(has_namespaces=False, has_data=has_data, has_flock=not has_data, has_gate=True)
    has_gate = (asks_attributes or not has_data) and file_gate.install(asks_attributes)
    pretends_attributes = not tier.has_namespaces and not (has_gate and asks_attributes)
    template = None if place.template is None else os.getpid()
    seccomp.install_last(has_flock=has_gate and not has_data, pretends_attributes=pretends_attributes, template=template)
    rules = [f"landlock-{landlock.abi()}"] if landlock.abi() > 0 else []
    return ["seccomp", "rlimits", *rules, *tier.namespaces]
