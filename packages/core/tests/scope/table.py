"""Reads the snippets and their expected decisions."""

import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent


def read_snippets():
    """Dictionaries with group, name, profile, decision, needs and code. A line of the code is the line of the snippet."""
    return [snippet for path in sorted((FOLDER / "snippets").glob("*.py")) for snippet in _read(path)]


def _read(path):
    snippets = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#: "):
            name, profile, decision, *needs = (field.strip() for field in line[3:].split("|"))
            snippets.append({"group": path.stem, "name": name, "profile": profile, "decision": decision, "needs": needs, "lines": []})
        elif snippets:
            snippets[-1]["lines"].append(line)
    return [snippet | {"code": "\n".join(snippet.pop("lines"))} for snippet in snippets]
