"""What keeps a session from being copied, as /proc shows it from outside: a fork would leave it behind, or share it.

Nothing of the session runs meanwhile, and nothing that it says about itself is believed.
"""

import os
import re
import stat

from . import watch

# Of each kind, more are only counted; names are foreign.
_MOST_NAMED, _LONGEST_NAME = 5, 80
# A line of /proc/PID/maps, found by the end of the line before it: to look for "^" at every place takes seven times as long.
_SHARED = re.compile(rb"\n\S+ ..[x-]s .*")
# Devices that have no state: null, zero, full, random, urandom.
_PLAIN_DEVICES = {os.makedev(1, minor) for minor in (3, 5, 7, 8, 9)}


def threads(worker):
    try:
        count = len(os.listdir(f"/proc/{worker}/task")) - 1
    except OSError:
        return ["its process cannot be read"]
    return [f"{_count(count, 'thread')} besides the main one"] if count > 0 else []


def others(pids):
    """`pids`: the processes of the session besides its worker."""
    named = [_name_of(pid) for pid in sorted(pids)]
    return [f"{_count(len(named), 'child process', 'es')}: {_listed(named)}"] if named else []


def open_files(worker, box, pipes):
    """`pipes`: device and inode of those between worker and supervisor, which copies share. Files that can only be read, and that
    nobody changes, are opened anew by the copy."""
    found = []
    try:
        for name in os.listdir(f"/proc/{worker}/fd"):
            about = os.stat(f"/proc/{worker}/fd/{name}")
            path = os.readlink(f"/proc/{worker}/fd/{name}")
            if name != "0" and (about.st_dev, about.st_ino) not in pipes and not _is_constant(worker, name, about, path, box):
                found.append(_describe(about, path, box))
    except OSError:
        return ["its open files cannot be read"]
    return [f"open: {_listed(sorted(found))}"] if found else []


def shared_memory(worker, box):
    """Mappings that copies would share: a process would see what another one writes."""
    found = set()
    try:
        with open(f"/proc/{worker}/maps", "rb") as file:
            for line in _SHARED.findall(b"\n" + file.read()):  # a few of hundreds
                _, rights, _, device, _, *path = line.decode("utf-8", "surrogateescape").split(None, 5)
                path = path[0] if path else ""
                if rights[1] == "w" or box.owns(_device(device), path):
                    found.add(_shown(path, box))
    except OSError:
        return ["its memory cannot be read"]
    return [f"shared memory: {_listed(sorted(found))}"] if found else []


def _is_constant(worker, name, about, path, box):
    if stat.S_ISCHR(about.st_mode):
        return about.st_rdev in _PLAIN_DEVICES
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
        return False
    lines = watch.read_short(f"/proc/{worker}/fdinfo/{name}").splitlines()
    flags = next(int(line.split()[1], 8) for line in lines if line.startswith(b"flags:"))
    return flags & os.O_ACCMODE == os.O_RDONLY and not box.owns(about.st_dev, path)


def _describe(about, path, box):
    if stat.S_ISSOCK(about.st_mode):
        return "a socket"
    if stat.S_ISFIFO(about.st_mode):
        return "a pipe"
    return _shown(path, box)


def _shown(path, box):
    own = f"{os.path.realpath(box.work)}/"
    path = path[len(own) :] if path.startswith(own) else path
    return ascii(path if len(path) <= _LONGEST_NAME else f"{path[:_LONGEST_NAME]}…")


def _name_of(pid):
    try:
        return ascii(watch.read_short(f"/proc/{pid}/comm").rstrip(b"\n").decode("utf-8", "replace"))
    except OSError:
        return "one that has ended"


def _device(text):
    major, minor = text.split(":")
    return os.makedev(int(major, 16), int(minor, 16))


def _count(number, noun, plural="s"):
    return f"{number} {noun}{'' if number == 1 else plural}"


def _listed(names):
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
