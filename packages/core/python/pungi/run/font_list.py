"""matplotlib's list of fonts, which is made with the environment (font-list.ts), in the folder where matplotlib expects it."""

import os

_PREPARED = "share/pungi/matplotlib"
_FOLDER = ".matplotlib"
_lists = []


def find(environment):
    """In the fork server, once: finds the lists of the environment."""
    folder = os.path.join(environment, _PREPARED)
    _lists[:] = [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []


def is_found():
    return bool(_lists)


def offer(temporary):
    """matplotlib needs a writable folder; a separate one does not clutter the run's."""
    if not is_found():
        return
    folder = os.path.join(temporary, _FOLDER)
    os.mkdir(folder, 0o700)
    for path in _lists:
        os.symlink(path, os.path.join(folder, os.path.basename(path)))
    os.environ["MPLCONFIGDIR"] = folder
