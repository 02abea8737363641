"""Answers for pip in an environment that has none: runs cannot install packages, and learn at once how to."""

import os

SENTENCE = (
    "pip cannot be used in a run: install packages with the tool install_packages, or with the command pungi env install."
)
_MODULE = f"""import sys

_SENTENCE = "{SENTENCE}"
if __name__ == "__main__":
    sys.exit(f"ERROR: {{_SENTENCE}}")
raise ModuleNotFoundError(_SENTENCE, name="pip")
"""
_COMMAND = f"#!/bin/sh\necho 'ERROR: {SENTENCE}' >&2\nexit 1\n"
_COMMANDS = ("pip", "pip3")
# ensurepip is part of the standard library. It starts the interpreter of the environment with these words, to run the pip that
# it brings, which would fail after seconds. A virtual environment that a run makes for itself has no such file.
# Reading a .pth file loads a module that an interpreter without one does not have.
_ENSUREPIP = f"""import os, sys; sys.modules.pop("encodings.utf_8_sig", None); 'runpy.run_module("pip"' in "".join(sys.orig_argv[-1:]) and (os.write(2, b"ERROR: {SENTENCE}\\n"), os._exit(1))
"""


def write(commands, site):
    """Writes both files, into the folder of commands and that of packages; an existing pip stays."""
    files = {os.path.join(commands, name): (_COMMAND, 0o755) for name in _COMMANDS}
    if not os.path.lexists(os.path.join(site, "pip")):
        files[os.path.join(site, "pip.py")] = (_MODULE, 0o644)
        files[os.path.join(site, "no_ensurepip.pth")] = (_ENSUREPIP, 0o644)
    for path, (text, mode) in files.items():
        if not os.path.lexists(path):
            with open(path, "x", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, mode)
