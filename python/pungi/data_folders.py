"""Folders of the host that a profile lets its runs read, as data/NAME in their work folder.

The server has resolved their paths once; a path that meanwhile leads elsewhere is refused.
"""

import os

# Where a root of our own holds them.
DATA = "/run/data"


def inside(folders):
    """Name to path, for a root of our own."""
    return {folder["name"]: f"{DATA}/{folder['name']}" for folder in folders}


def outside(folders):
    """Name to path, where the host's own root is seen."""
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
    """As the identity that runs will have: each must be a folder that it can look into."""
    for folder in folders:
        name = folder["name"]
        if not os.path.isdir(paths[name]) or not os.access(paths[name], os.R_OK | os.X_OK):
            raise OSError(
                f'the sandbox\'s user (uid {os.getuid()}) cannot read the data folder "{name}" ({folder["path"]}); '
                "give every user the right to read it, or take it out of the profile's workspace"
            )


def link(paths):
    """In the worker's own work folder, which is the working directory."""
    if paths:
        os.mkdir("data")
    for name, path in paths.items():
        os.symlink(path, os.path.join("data", name))
