"""Folders of the host that runs may read (a profile's workspace, DATA_ROOTS), as data/NAME in their work folder.

The server has resolved their paths once; a path that meanwhile leads elsewhere is refused. Folders of scripts, whose names begin with a
dot, are not shown there: a script runs from its own folder. Runs do without those that cannot be read. Of the folder of a person's own
script, which is not chosen for runs, hidden files and folders (.env, .git) are kept from them.
"""

import collections
import contextlib
import os
import stat

# A check, not a proof: in larger folders, and later on, the host's owner is responsible.
_MOST_LOOKED_AT = 20_000
# The folder that holds them in our own root.
DATA = "/run/data"
# The name of the folder of a person's own script.
_OWN_SCRIPT = ".script"


def inside(folders):
    """Name to path, for a root of our own."""
    return {folder["name"]: f"{DATA}/{folder['name']}" for folder in folders}


def outside(folders):
    """Name to path, if the host's root is visible."""
    return {folder["name"]: folder["path"] for folder in folders}


def hold(folders):
    """(descriptor, name) of each."""
    return [(_open(folder["name"], folder["path"]), folder["name"]) for folder in folders if not _is_gone(folder)]


def _is_of_scripts(name):
    return name.startswith(".")


def _is_gone(folder):
    return _is_of_scripts(folder["name"]) and os.path.realpath(folder["path"]) != folder["path"]


def _open(name, path):
    try:
        fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise OSError(f'the data folder "{name}" ({path}) cannot be opened: {error.strerror}') from error
    if os.readlink(f"/proc/self/fd/{fd}") != path:
        raise OSError(f'the data folder "{name}" ({path}) has become a link to another place')
    return fd


def readable(folders, paths):
    """Checks, with the identity of the runs, that each is a folder that it can read. Returns those that are."""
    found = []
    for folder in folders:
        name = folder["name"]
        if os.path.isdir(paths[name]) and os.access(paths[name], os.R_OK | os.X_OK):
            found.append(folder)
        elif not _is_of_scripts(name):
            raise OSError(
                f'the sandbox\'s user (uid {os.getuid()}) cannot read the data folder "{name}" ({folder["path"]}); '
                "give every user the right to read it, or take it out of the profile's workspace or of DATA_ROOTS"
            )
    return found


def refuse_sockets(folders, paths):
    """No mount keeps a run from talking to a program that listens at a socket in a folder that it sees: the filter does, for all
    folders. A folder of data should not have one in the first place."""
    for folder in folders:
        if not _is_of_scripts(folder["name"]) and (found := _first_socket(paths[folder["name"]])) is not None:
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


def hidden_in(name, path):
    """(path, whether it is a folder) of the hidden files and folders to keep from runs, at any depth, those near the top first."""
    return list(_hidden_below(path)) if name == _OWN_SCRIPT else []


def shown_in(name, path):
    """(path, whether all below it is shown) of what runs may read, without the hidden files and folders."""
    if name != _OWN_SCRIPT:
        return [(path, True)]
    # The folders that have something hidden somewhere below.
    parted = {parent for hidden, _ in _hidden_below(path) for parent in _between(path, os.path.dirname(hidden))}
    shown, left = [], [path]
    while left:
        folder = left.pop()
        shown.append((folder, folder not in parted))
        if folder in parted:
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                left += [entry.path for entry in entries if not entry.name.startswith(".") and not entry.is_symlink()]
    return shown


def _between(root, folder):
    while folder != root:
        yield folder
        folder = os.path.dirname(folder)
    yield root


def _hidden_below(root):
    """Yields (path, whether it is a folder). Links are left out: they lead nowhere outside of the folder."""
    left, seen = collections.deque([root]), 0
    while left and seen < _MOST_LOOKED_AT:
        with contextlib.suppress(OSError), os.scandir(left.popleft()) as entries:
            for entry in entries:
                seen += 1
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name.startswith(".") and not entry.is_symlink():
                    yield entry.path, is_folder
                elif is_folder:
                    left.append(entry.path)


def link(paths):
    """Links those with data into the worker's own work folder, which is the working directory."""
    for name, path in paths.items():
        if not _is_of_scripts(name):
            os.makedirs("data", exist_ok=True)
            os.symlink(path, os.path.join("data", name))
