"""Folders of the host that a profile lets its runs read, as data/NAME in their work folder.

The server has resolved their paths once; a path that meanwhile leads elsewhere is refused.
"""

import contextlib
import os
import stat

# A check, not a proof: in larger folders, and later on, the host's owner is responsible.
_MOST_LOOKED_AT = 20_000
# The folder that holds them in our own root.
DATA = "/run/data"


def inside(folders):
    """Name to path, for a root of our own."""
    return {folder["name"]: f"{DATA}/{folder['name']}" for folder in folders}


def outside(folders):
    """Name to path, if the host's root is visible."""
    return {folder["name"]: folder["path"] for folder in folders}


def hold(folders):
    """(descriptor, name) of each."""
    return [(_open(folder["name"], folder["path"]), folder["name"]) for folder in folders]


def _open(name, path):
    try:
        fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise OSError(f'the data folder "{name}" ({path}) cannot be opened: {error.strerror}') from error
    if os.readlink(f"/proc/self/fd/{fd}") != path:
        raise OSError(f'the data folder "{name}" ({path}) has become a link to another place')
    return fd


def check(folders, paths):
    """Checks, with the identity of the runs, that each is a folder that it can read."""
    for folder in folders:
        name = folder["name"]
        if not os.path.isdir(paths[name]) or not os.access(paths[name], os.R_OK | os.X_OK):
            raise OSError(
                f'the sandbox\'s user (uid {os.getuid()}) cannot read the data folder "{name}" ({folder["path"]}); '
                "give every user the right to read it, or take it out of the profile's workspace"
            )


def refuse_sockets(folders, paths):
    """No mount keeps a run from talking to a program that listens at a socket in a folder that it sees."""
    for folder in folders:
        if (found := _first_socket(paths[folder["name"]])) is not None:
            raise OSError(
                f'the data folder "{folder["name"]}" ({folder["path"]}) holds a socket ({found}), by which runs could talk to '
                "a program of the host; use a folder without one"
            )


def _first_socket(root):
    left, seen = [root], 0
    while left and seen < _MOST_LOOKED_AT:
        with contextlib.suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                elif not entry.is_symlink() and stat.S_ISSOCK(_mode_of(entry)):
                    return os.path.relpath(entry.path, root)
    return None


def _mode_of(entry):
    # The folder entry identifies regular files; only others need a stat.
    return stat.S_IFREG if entry.is_file(follow_symlinks=False) else entry.stat(follow_symlinks=False).st_mode


def link(paths):
    """Links them into the worker's own work folder, which is the working directory."""
    if paths:
        os.mkdir("data")
    for name, path in paths.items():
        os.symlink(path, os.path.join("data", name))
