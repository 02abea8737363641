"""Lets an interpreter say that it is of another virtual environment, without running anything that is installed there.

Tools ask an environment's interpreter about it, and at its start that would run whatever .pth files and sitecustomize
modules packages have put there. This module is copied into an empty environment beside a file that names the other one.
"""

import os
import site
import sys
from importlib.machinery import PathFinder


def _become(venv):
    here = sys.prefix
    sys.prefix = sys.exec_prefix = venv
    sys.executable = os.path.join(venv, "bin", "python")
    site.PREFIXES[:] = [venv if prefix == here else prefix for prefix in site.PREFIXES]
    sys.path[:] = [_moved(path, here, venv) for path in sys.path]
    sys.meta_path[sys.meta_path.index(PathFinder)] = _outside(venv)


def _moved(path, here, venv):
    return venv + path[len(here) :] if path.startswith(here + os.sep) else path


def _outside(venv):
    """Finds modules everywhere but in the environment, whose distributions can be looked at all the same."""

    class Outside(PathFinder):
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            if path is None:
                path = [entry for entry in sys.path if not f"{entry}{os.sep}".startswith(venv + os.sep)]
            return PathFinder.find_spec(fullname, path, target)

    return Outside


def _arrange():
    with open(os.path.join(os.path.dirname(__file__), "stand-in-for"), encoding="utf-8") as file:
        venv = file.read()
    # Site's last step, instead of its own: what it does before would look for .pth files in the other environment.
    site.execsitecustomize = lambda: _become(venv)


_arrange()
