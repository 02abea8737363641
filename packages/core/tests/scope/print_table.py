"""Prints the snippets, their profiles and the files beside them as JSON, for tests that are not in Python."""

import json
import sys

sys.dont_write_bytecode = True

from profiles import FILES, PROFILES  # noqa: E402
from table import read_snippets  # noqa: E402

json.dump({"snippets": read_snippets(), "profiles": PROFILES, "files": FILES}, sys.stdout)
