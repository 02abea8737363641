"""Folders that a build may fill: lent to the sandbox's user, and taken back as untrusted.

No other process works in them while these functions do: before, no build has started, and after, its namespace has ended. So a
path that was a folder still is one, and no link is ever followed.
"""

import os
import shutil
import stat
import tempfile


def lend(folders, identity):
    """Changes the owner of everything in them to (uid, gid), and returns the links."""
    links = {}
    for path in _paths_below(folders):
        entry = os.lstat(path)
        if stat.S_ISLNK(entry.st_mode):
            links[path] = os.readlink(path)
        elif stat.S_ISREG(entry.st_mode) and entry.st_nlink > 1:
            _separate(path)
        os.chown(path, *identity, follow_symlinks=False)
    return links


def take_back(folders, links):
    """Makes everything ours and readable to all. Removes what can mislead a later reader: new links, pipes, sockets."""
    uid, gid = os.getuid(), os.getgid()
    for path in _paths_below(folders):
        mode = os.lstat(path).st_mode
        is_link = stat.S_ISLNK(mode)
        if not (_is_harmless(path, links) if is_link else stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            os.unlink(path)
            continue
        os.chown(path, uid, gid, follow_symlinks=False)
        if not is_link:
            os.chmod(path, 0o755 if stat.S_ISDIR(mode) or mode & 0o100 else 0o644)


def _is_harmless(link, links_before):
    """Whether the link was there before, or names a neighbour, as those of libraries do."""
    target = os.readlink(link)
    return target == links_before.get(link) or ("/" not in target and target not in (".", ".."))


def _separate(path):
    """Replaces the file by a copy: a file with other names, in another environment or in the shared cache, changes under all of them."""
    opened, copy = tempfile.mkstemp(dir=os.path.dirname(path))
    os.close(opened)
    shutil.copy2(path, copy)
    os.replace(copy, path)


def _paths_below(folders):
    """Each path before the paths below it; a folder is opened only when the iteration goes on, and a link never."""
    left = list(folders)
    while left:
        path = left.pop()
        yield path
        if os.path.isdir(path) and not os.path.islink(path):
            with os.scandir(path) as entries:
                left += [entry.path for entry in entries]
