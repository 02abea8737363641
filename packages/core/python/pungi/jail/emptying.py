"""Removes folders of runs, whatever runs have made of them."""

import errno
import os


def remove_tree(path):
    _unlock(path)
    empty_folder(path)
    os.rmdir(path)


def empty_folder(path, parent=None):
    """Empties a folder that a run may have made hard to empty: locked, or nested beyond any path's length."""
    root = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    serial, prefix, has_more = 0, None, True
    try:
        while has_more:
            has_more = False
            for name in os.listdir(root):
                if not _is_folder(name, root):
                    os.unlink(name, dir_fd=root)
                    continue
                _unlock(name, root)
                folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root)
                try:
                    for inner in os.listdir(folder):
                        # Folders inside are moved up one level, instead of descending into them.
                        if _is_folder(inner, folder):
                            _unlock(inner, folder)
                            serial, prefix, has_more = serial + 1, prefix or f".removing-{os.urandom(8).hex()}", True
                            os.rename(inner, f"{prefix}-{serial}", src_dir_fd=folder, dst_dir_fd=root)
                        else:
                            os.unlink(inner, dir_fd=folder)
                finally:
                    os.close(folder)
                os.rmdir(name, dir_fd=root)
    finally:
        os.close(root)


def _unlock(name, parent=None):
    """Supervisors of the landlock tier have no chmod; there a folder is always open to its owner (file_keeper.py)."""
    try:
        os.chmod(name, 0o700, dir_fd=parent)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise


def _is_folder(name, parent):
    return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o170000 == 0o040000
