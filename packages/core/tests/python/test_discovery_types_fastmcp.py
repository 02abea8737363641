"""Pungi's schemas beside FastMCP's own. tests/fixtures/fastmcp/differences.json lists each difference, and why it is there."""

import json
import pathlib
import unittest

import python_half  # noqa: F401
from discovered import inspected, needs

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "tests" / "fixtures" / "fastmcp"
ABSENT = "(absent)"
# Keywords whose value holds schemas by name, and those whose value is no schema at all.
BY_NAME, VALUES = {"properties", "$defs"}, {"default", "examples", "enum", "const", "required"}


def read_json(name):
    return json.loads((FOLDER / name).read_text("utf-8"))


def normalise(schema, definitions=None, above=()):
    """Titles dropped, since pydantic makes one of each name; definitions put where they are used; what has no order sorted."""
    if not isinstance(schema, dict):
        return [normalise(each, definitions, above) for each in schema] if isinstance(schema, list) else schema
    definitions = {**(definitions or {}), **schema.get("$defs", {})}
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in above:
            return {"$recursive": True}
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return normalise({**definitions[name], **rest}, definitions, (*above, name))
    found = {}
    for key, value in schema.items():
        if key in ("title", "$defs", "x-fastmcp-wrap-result"):
            continue
        if key in BY_NAME:
            found[key] = {name: normalise(each, definitions, above) for name, each in value.items()}
        else:
            found[key] = value if key in VALUES else normalise(value, definitions, above)
    if "required" in found:
        found["required"] = sorted(found["required"])
    return found


def compare(ours, theirs, place=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from compare(ours.get(key, ABSENT), theirs.get(key, ABSENT), f"{place}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs)):
            yield from compare(one, other, f"{place}/{index}")
    elif json.dumps(ours, sort_keys=True) != json.dumps(theirs, sort_keys=True):
        yield {"at": place, "ours": ours, "fastmcp": theirs}


def comparable(description, given, output, wraps):
    return {"description": description or "", "input": normalise(given), "output": normalise(output), "wraps": wraps}


def all_differences():
    recorded = read_json("fastmcp.json")
    found = inspected((FOLDER / "cases.py").read_text("utf-8"), "cases.py")
    tools, remarks = found["functions"], found["remarks"]
    ours = {
        each["name"]: comparable(each["description"], each["inputSchema"], each["outputSchema"], each["wrapsResult"])
        for each in tools
    }
    refused = {each["name"].partition("(")[0] for each in remarks if each["isSkipped"]}
    theirs = {
        name: comparable(each["description"], each["inputSchema"], each["outputSchema"], _wraps(each["outputSchema"]))
        for name, each in recorded["tools"].items()
    }
    for name in sorted(ours.keys() | refused | theirs.keys() | recorded["refused"].keys()):
        one, other = ours.get(name, "(no tool)"), theirs.get(name, "(no tool)")
        # What only one of them can do is one difference, not as many as it has properties.
        if isinstance(one, str) or isinstance(other, str):
            if one != other:
                yield {"case": name, "at": "", "ours": _word(one), "fastmcp": _word(other)}
            continue
        for each in compare(one, other):
            yield {"case": name, **each}


def _wraps(schema):
    return "x-fastmcp-wrap-result" in (schema or {})


def _word(found):
    return found if isinstance(found, str) else "(a tool)"


@needs("pydantic", "typing_extensions", "email_validator")
class BesideFastMcp(unittest.TestCase):
    maxDiff = None

    def test_every_difference_is_listed_and_every_listed_one_exists(self):
        listed = [
            {**each, "why": group["why"]} for group in read_json("differences.json") for each in group["differences"]
        ]
        self.assertTrue(all(len(each["why"]) > 20 for each in listed))
        expected = sorted((_key(each) for each in listed))
        self.assertEqual(sorted(_key(each) for each in all_differences()), expected)

    def test_there_are_cases_enough_of_which_most_are_alike(self):
        recorded = read_json("fastmcp.json")
        names = recorded["tools"].keys() | recorded["refused"].keys()
        different = {each["case"] for each in all_differences()}
        self.assertGreaterEqual(len(names), 60)
        self.assertGreaterEqual(len(names - different), 40)


def _key(difference):
    return json.dumps({key: difference[key] for key in ("case", "at", "ours", "fastmcp")}, sort_keys=True, ensure_ascii=False)


if __name__ == "__main__":
    unittest.main()
