"""Finds the folder below which this server may create cgroups for its runs: cgroup v2 where it is delegated, else v1."""

import os
from typing import NamedTuple

# The leaf that holds the server's own processes: v2 allows processes and controllers only in different cgroups.
HOST = "pungi-host"
_NEEDED = ("memory", "pids")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Unavailable(Exception):
    """There is no cgroup for runs; the text gives the reason."""


class CgroupPlace(NamedTuple):
    version: str
    # Controller to folder. In v2 there is one folder for all controllers.
    folders: dict
    # The limit of the server itself, in bytes.
    most_memory: int


def find(server):
    """`server`: the pid of the server, whose processes may be moved to a leaf."""
    try:
        found, own = mounts(), own_cgroups()
        return _find_v2(found, own, server) or _find_v1(found, own)
    except OSError as error:
        raise Unavailable(f"{error.strerror}: {error.filename}" if error.filename else str(error)) from error


def mounts():
    """(type, root, mount point, options) of every cgroup file system."""
    found = []
    for line in read("/proc/self/mountinfo").splitlines():
        about, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            _, _, _, root, point, *_ = about.split(" ")
            found.append((kind, root, point, options.split(",")))
    return found


def own_cgroups():
    """Controller to path; "" is v2."""
    own = {}
    for line in read("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        own |= dict.fromkeys(names.split(","), path)
    return own


def folder_of(root, point, path):
    """The folder of the cgroup `path` below a mount point that shows the hierarchy from `root` on."""
    below = os.path.relpath(path, root)
    if below.startswith(".."):
        raise Unavailable(f"the server's cgroup {path} is not below {point}")
    return os.path.normpath(os.path.join(point, below))


# Version 2.


def _find_v2(mounts, own, server):
    """None if v2 does not have the controllers at all: they may be in v1."""
    for kind, root, point, _ in mounts:
        if kind == "cgroup2" and "" in own:
            if not set(_NEEDED) <= set(read(f"{point}/cgroup.controllers").split()):
                continue
            folder = folder_of(root, point, own[""])
            is_outermost = own[""] == "/"
            if os.path.basename(folder) == HOST:
                folder = os.path.dirname(folder)
            base = _usable_v2(folder, is_outermost, server)
            return CgroupPlace("v2", dict.fromkeys(_NEEDED, base), _most_v2(folder, point))
    return None


def _usable_v2(folder, is_outermost, server):
    """The folder itself; for root, if it holds processes of others, the one above."""
    _check_mount(folder)
    if not os.access(folder, os.W_OK) or not os.access(f"{folder}/cgroup.procs", os.W_OK):
        raise Unavailable(f"the cgroup {folder} is not delegated to this user")
    if not set(_NEEDED) <= set(read(f"{folder}/cgroup.controllers").split()):
        raise Unavailable(f"the cgroup {folder} has no memory and pids controllers")
    if _passes_on(folder) or not os.path.exists(f"{folder}/cgroup.type"):  # the root cgroup may hold processes, too
        pass_on(folder)
        return folder
    if not _strangers(folder, is_outermost, server):
        _vacate(folder)
        pass_on(folder)
        return folder
    above = os.path.dirname(folder)
    if os.geteuid() == 0 and os.path.exists(f"{above}/cgroup.subtree_control") and _passes_on(above):
        return above
    raise Unavailable(f"the cgroup {folder} holds processes of others")


def _passes_on(folder):
    return set(_NEEDED) <= set(read(f"{folder}/cgroup.subtree_control").split())


def pass_on(folder):
    """Allows memory and pids limits in the cgroups below."""
    if not _passes_on(folder):
        write(f"{folder}/cgroup.subtree_control", " ".join(f"+{name}" for name in _NEEDED))


def _strangers(folder, is_outermost, server):
    """Processes that are neither the server's nor, in a cgroup that was made for it, those that started it."""
    may_hold_starters = is_outermost or _is_delegated(folder)
    starters = set(_ancestors(server)) if may_hold_starters else set()
    pids = map(int, read(f"{folder}/cgroup.procs").split())
    return [pid for pid in pids if pid not in starters and pid != os.getpid() and server not in (pid, *_ancestors(pid))]


def _is_delegated(folder):
    """systemd marks what it delegates."""
    try:
        return os.getxattr(folder, "user.delegate") == b"1"
    except OSError:
        return False


def _ancestors(pid):
    found = []
    while pid > 0:
        try:
            pid = int(read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(pid)
    return found


def _vacate(folder):
    leaf = f"{folder}/{HOST}"
    os.makedirs(leaf, exist_ok=True)
    for _ in range(100):  # processes may be forked while we move the others
        pids = read(f"{folder}/cgroup.procs").split()
        if not pids:
            return
        for pid in pids:
            try:
                write(f"{leaf}/cgroup.procs", pid)
            except ProcessLookupError:
                continue
    raise Unavailable(f"processes keep appearing in {folder}")


def _most_v2(folder, point):
    most = _machine_memory()
    while folder.startswith(f"{point}/"):
        text = read(f"{folder}/memory.max").strip()
        most = most if text == "max" else min(most, int(text))
        folder = os.path.dirname(folder)
    return most


# Version 1.


def _find_v1(mounts, own):
    folders = {}
    for kind, root, point, options in mounts:
        for name in {"memory", "pids", "cpuacct"} & set(options):
            if kind == "cgroup" and name in own and name not in folders:
                folders[name] = folder_of(root, point, own[name])
    if "memory" not in folders:
        raise Unavailable("no cgroup file system with a memory controller is mounted")
    for folder in folders.values():
        _check_mount(folder)
        if not os.access(folder, os.W_OK):
            raise Unavailable(f"the cgroup {folder} is not writable for this user")
    limit = _figure(f"{folders['memory']}/memory.stat", "hierarchical_memory_limit")
    return CgroupPlace("v1", folders, min(limit, _machine_memory()))


def _check_mount(folder):
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise Unavailable(f"{folder} is mounted read-only")


def _figure(path, name):
    return int(next(line.split()[1] for line in read(path).splitlines() if line.startswith(f"{name} ")))


def _machine_memory():
    return os.sysconf("SC_PHYS_PAGES") * _PAGE


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def write(path, text):
    """Writes at once and unbuffered: the kernel's refusal is raised here."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror} for {text!r}", path) from error
    finally:
        os.close(fd)
