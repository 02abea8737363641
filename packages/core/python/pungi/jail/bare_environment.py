"""The default environment before anything is installed in it: a virtual environment of a few files, made inside the jail.

It hides the packages of the host's interpreter, from runs and from every interpreter that they start as sys.executable.
"""

import os
import sys

from . import no_pip

FOLDER = "/env"


def make(folder):
    """Needs only the interpreter that runs this. Takes well under a millisecond, so no start waits for it.

    Returns the folder of its packages."""
    major, minor, *_ = sys.version_info
    site = f"{folder}/lib/python{major}.{minor}/site-packages"
    for each in (f"{folder}/bin", site):
        os.makedirs(each)
    os.symlink(sys.executable, f"{folder}/bin/python")
    for name in (f"python{major}", f"python{major}.{minor}"):
        os.symlink("python", f"{folder}/bin/{name}")
    no_pip.write(f"{folder}/bin", site)
    version = ".".join(map(str, sys.version_info[:3]))
    with open(f"{folder}/pyvenv.cfg", "w", encoding="utf-8") as file:
        file.write(f"home = {_home()}\ninclude-system-site-packages = false\nversion = {version}\n")
    return site


def enter(folder):
    """Makes this process the interpreter of that environment: `site`, which is not loaded yet, looks no further."""
    sys.executable = f"{folder}/bin/python"
    if sys.version_info < (3, 11):  # later versions name the interpreter that the environment is made from
        sys._base_executable = sys.executable
    sys.prefix = sys.exec_prefix = folder


def _home():
    """The folder of the interpreter; for one of a virtual environment, the folder of its base interpreter."""
    folder = os.path.dirname(sys.executable)
    try:
        with open(os.path.join(os.path.dirname(folder), "pyvenv.cfg"), encoding="utf-8") as file:
            lines = dict(map(str.strip, line.split("=", 1)) for line in file if "=" in line)
    except OSError:
        return folder
    return lines.get("home", folder)
