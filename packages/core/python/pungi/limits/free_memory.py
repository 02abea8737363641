"""How much memory can be taken before the kernel kills a process for it: of the machine, and of the cgroups that this process is in."""

import contextlib
import os

from . import cgroup_place

_MACHINE = "/proc/meminfo"
# The files with the limit and the use of a cgroup and all below it, and what of it is file contents, which make room.
_FIGURES = {
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
    "cgroup2": ("memory.max", "memory.current", ("inactive_file", "active_file")),
}


def free():
    """In bytes; none if nobody says so. A container shows its own cgroup, and not those around it."""
    try:
        return min([_of_machine(), *_of_cgroups()])
    except (OSError, ValueError, KeyError):
        return 0


def _of_machine():
    return _figures(_MACHINE)["MemAvailable:"] * 1024


def _of_cgroups():
    own = cgroup_place.own_cgroups()
    for kind, root, point, options in cgroup_place.mounts():
        controller = "" if kind == "cgroup2" else "memory"
        if controller in own and (kind == "cgroup2" or controller in options):
            with contextlib.suppress(cgroup_place.Unavailable):
                folder = cgroup_place.folder_of(root, point, own[controller])
                while folder.startswith(point):
                    with contextlib.suppress(OSError, ValueError):  # it has no controller, or no limit
                        yield _of_cgroup(folder, *_FIGURES[kind])
                    folder = os.path.dirname(folder)


def _of_cgroup(folder, limit, usage, of_files):
    most, used = (int(cgroup_place.read(f"{folder}/{name}")) for name in (limit, usage))
    figures = _figures(f"{folder}/memory.stat")
    return most - used + sum(figures.get(name, 0) for name in of_files)


def _figures(path):
    """The first figure of each line, by the word before it."""
    return {name: int(figure) for name, figure, *_ in map(str.split, cgroup_place.read(path).splitlines())}
