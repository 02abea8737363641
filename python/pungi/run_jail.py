"""Jail 2: what separates one run from the next, from its supervisor and from the fork server."""

import contextlib
import os
import sys
from typing import NamedTuple

from . import landlock, network_forwarder, seccomp, system
from .call_arguments import SUPERVISOR_NAMESPACES
from .host_jail import DEVICES, SHM, TMP, WORK, visible_paths
from .system import MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_REC

# Of its own entry in the host's /proc; not net, which tells of the host's sockets.
_OWN_PROC = ("stat", "statm", "status", "cmdline", "comm", "maps", "limits", "fd")
# Of this process's own network namespace; workers inherit the list.
_open_ports = []


class Place(NamedTuple):
    """Where a supervisor parks its workers: the same for each of them."""

    tier: str
    # What they may write to (box.py).
    box: object
    # The landlock rules that they enter, as an open file; None where each makes its own, or there are none.
    rules: int | None
    # See limits.tasks_counted_outside.
    tasks_outside: int | None
    # The cgroup of the runs (run_group.py), and what is to be said of it; no cgroup: None.
    group: object = None
    about_group: dict | None = None
    # Where signals need leave (signal_gate.py), the gate.
    gate: object | None = None


def fork_into_namespaces():
    """Forks; the child is PID 1 of fresh namespaces."""
    return system.clone(SUPERVISOR_NAMESPACES)


def settle_in_namespaces(identity):
    """In the supervisor, once: its identity and a /proc of its own. It keeps the rights to mount inside its namespace."""
    system.map_only(*identity)
    system.mount(None, "/", flags=MS_PRIVATE | MS_REC)
    system.mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def bound_sockets():
    """In the supervisor, once: connections that nobody has accepted and messages that nobody has read own no descriptor."""
    for name, most in (("core/somaxconn", 64), ("unix/max_dgram_qlen", 10), ("core/optmem_max", 20480)):
        with contextlib.suppress(OSError):  # not every kernel lets a network namespace have its own
            _write_setting(name, most)


def open_network():
    """In a supervisor whose runs may reach hosts, once: there is a loopback, and workers may connect to one port of it."""
    # Together less than limits count for a socket: the kernel would let them grow to megabytes that no process shows.
    for name, most in (("tcp_rmem", 128 * 1024), ("tcp_wmem", 64 * 1024)):
        _write_setting(f"ipv4/{name}", f"4096 {most} {most}")
    system.raise_loopback()
    _open_ports.append(network_forwarder.PORT)


def _write_setting(name, value):
    """Of this process's own network namespace."""
    with open(f"/proc/sys/net/{name}", "w", encoding="ascii") as file:
        file.write(f"{value}")


def raise_walls(tier, box):
    """In the supervisor, once: what holds for all of its workers alike. Gives the rules that each of them enters, if any."""
    if tier != "namespace":
        return None
    rules = None
    if landlock.abi() > 0:
        writable = [(folder, landlock.WRITE) for folder in (WORK, TMP, SHM)]
        # Nothing is in this /dev but the few devices that we put there.
        rules = landlock.make_ruleset([("/", landlock.READ), ("/dev", landlock.DEVICE), *writable], _open_ports)
    system.forbid_new_privileges()
    seccomp.install(has_namespaces=True, has_data=bool(box.data))
    return rules


def restrict_files(place):
    """In the worker, first, while it still has the descriptor of the rules: from here on it can read what is there and
    write only to its own folders."""
    if place.rules is not None:
        landlock.enter(place.rules)
    elif place.tier == "landlock":
        box = place.box
        readable = [(path, landlock.READ) for path in visible_paths([*sys.path])]
        readable += [(path, landlock.DATA) for path in box.data.values()]
        devices = [(f"/dev/{name}", landlock.DEVICE) for name in DEVICES]
        own_proc = [(f"/proc/{os.getpid()}/{name}", landlock.READ) for name in _OWN_PROC]
        writable = [(folder, landlock.WRITE) for folder in (box.work, box.temporary)]
        system.forbid_new_privileges()
        landlock.restrict([*readable, *own_proc, *devices, *writable])


def lock_worker(place):
    """In the worker, last. Gives the names of all that stands around it."""
    groups = place.group.features if place.group is not None else []
    if place.tier == "process":
        return ["rlimits", *groups]
    system.drop_capabilities()
    if place.tier == "landlock":
        seccomp.install(has_namespaces=False, has_data=bool(place.box.data))
    seccomp.install_last()
    is_restricted = [f"landlock-{landlock.abi()}"] if landlock.abi() > 0 else []
    return ["seccomp", "rlimits", *is_restricted, *(_NAMESPACES if place.tier == "namespace" else ()), *groups]


_NAMESPACES = ("user-namespace", "pid-namespace", "mount-namespace", "ipc-namespace", "network-namespace")
