"""Jail 2: what separates one run from the next, from its supervisor and from the fork server."""

import os
import sys

from . import landlock, seccomp, system
from .host_jail import DEVICES, SHM, TMP, WORK, visible_paths
from .system import MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_REC

# Of its own entry in the host's /proc; not net, which tells of the host's sockets.
_OWN_PROC = ("stat", "statm", "status", "cmdline", "comm", "maps", "limits", "fd")


def fork_into_namespaces():
    """Forks; the child is PID 1 of fresh namespaces."""
    flags = system.CLONE_NEWUSER | system.CLONE_NEWPID | system.CLONE_NEWNS | system.CLONE_NEWIPC | system.CLONE_NEWNET
    return system.clone(flags)


def settle_in_namespaces(identity):
    """In the supervisor, once: its identity and a /proc of its own. It keeps the rights to mount inside its namespace."""
    system.map_only(*identity)
    system.mount(None, "/", flags=MS_PRIVATE | MS_REC)
    system.mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def lock_worker(tier, box):
    """In the worker, last: from here on it can read what is there and write only to its own folders."""
    if tier != "process":
        system.drop_capabilities()
    features = ["seccomp", "rlimits"]
    if tier == "namespace":
        if landlock.abi() > 0:
            writable = [(folder, landlock.WRITE) for folder in (WORK, TMP, SHM)]
            # Nothing is in this /dev but the few devices that we put there.
            version = landlock.restrict([("/", landlock.READ), ("/dev", landlock.DEVICE), *writable])
            features.append(f"landlock-{version}")
        seccomp.install(has_namespaces=True)
    elif tier == "landlock":
        readable = [(path, landlock.READ) for path in visible_paths([*sys.path])]
        devices = [(f"/dev/{name}", landlock.DEVICE) for name in DEVICES]
        own_proc = [(f"/proc/{os.getpid()}/{name}", landlock.READ) for name in _OWN_PROC]
        writable = [(folder, landlock.WRITE) for folder in (box.work, box.temporary)]
        version = landlock.restrict([*readable, *own_proc, *devices, *writable])
        features.append(f"landlock-{version}")
        seccomp.install(has_namespaces=False)
    else:
        features = ["rlimits"]
    return features


NAMESPACE_FEATURES = ["user-namespace", "pid-namespace", "mount-namespace", "ipc-namespace", "network-namespace"]
