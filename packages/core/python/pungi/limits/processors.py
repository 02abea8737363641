"""The number of processors that the server's processes may use: libraries start that many threads, and ignore cgroups."""

import math
import os

_CGROUPS, _OWN = "/sys/fs/cgroup", "/proc/self/cgroup"
# More threads cost a run its tasks and its memory, and seldom save time.
_MOST_THREADS = 16
_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_MAX_THREADS", "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS", "RAYON_NUM_THREADS",
)


def count():
    """Called outside the jail, which hides cgroups."""
    return max(1, math.ceil(min(_affinity(), quota())))


def variables(processors):
    """Returns the variables that libraries need; none if they find the same number by themselves."""
    threads = min(processors, _MOST_THREADS)
    return dict.fromkeys(_VARIABLES, f"{threads}") if threads < _affinity() else {}


def _affinity():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def quota(cgroups=_CGROUPS, own=_OWN):
    """The smallest share, in processors, of our cgroup and those above it; infinite without one."""
    shares = [math.inf]
    for line in _read(own).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            shares += (_share(_read(f"{folder}/cpu.max").split()) for folder in _upwards(cgroups, path))
        elif "cpu" in controllers.split(","):
            for folder in _upwards(f"{cgroups}/{controllers}", path):
                shares.append(_share([*_read(f"{folder}/cpu.cfs_quota_us").split(), *_read(f"{folder}/cpu.cfs_period_us").split()]))
    return min(shares)


def _upwards(root, path):
    """A container may see its own cgroup as the root, whatever its path says."""
    parts = path.strip("/").split("/")
    return [os.path.join(root, *parts[:length]) for length in range(len(parts) + 1)]


def _share(words):
    """The share of a quota and its period; "max" and -1 are none."""
    if len(words) != 2 or not words[0].isdigit() or int(words[1]) <= 0:
        return math.inf
    return int(words[0]) / int(words[1])


def _read(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
