"""The command line of a supervisor's interpreter."""

import json
import os
import sys

_PYTHON_HALF = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Windows gives a pipe the encoding of a console without it. Elsewhere the mode follows LANG, as in any Python.
_MODE = ("-X", "utf8") if os.name == "nt" else ()


def command(about):
    """Starts without packages, which are loaded once the identity is settled (worker.py)."""
    return [sys.executable, "-I", "-S", *_MODE, _PYTHON_HALF, "spawn-worker", json.dumps(about)]
