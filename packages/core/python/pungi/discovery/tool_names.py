"""Names of tools, which are plain ASCII; Python's need not be."""

import re
import unicodedata

_MAX_NAME, _LONGEST_COMMAND = 128, 120


class ToolNames:
    def __init__(self):
        self._taken = set()
        # The number that was found last for a name: whatever is below it is taken.
        self._numbers = {}

    def free(self, name):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")[:_MAX_NAME]
        if not plain.strip("_"):
            return ""
        if plain not in self._taken:
            return plain
        base = plain[: _MAX_NAME - 5]
        number = self._numbers.get(base, 2)
        while f"{base}_{number}" in self._taken:
            number += 1
        self._numbers[base] = number
        return f"{base}_{number}"

    def add(self, name):
        self._taken.add(name)


def command_name(*words):
    """A valid name of a tool out of the script's name and the words of a subcommand."""
    parts = [re.sub(r"[^A-Za-z0-9_-]+", "_", word).strip("_") for word in words]
    return "_".join(part for part in parts if part)[:_LONGEST_COMMAND] or "script"
