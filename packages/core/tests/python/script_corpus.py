"""The scripts of tests/fixtures/scripts, and a short form of what is found in them; so is packages/wrap/tests/script-corpus.ts."""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "tests" / "fixtures" / "scripts"
# More than this are only counted.
_MOST_LISTED = 50


def expectations():
    """{name of the script: what is expected of it}"""
    paths = sorted(FOLDER.glob("expected/*.json"))
    return {path.name.removesuffix(".json"): json.loads(path.read_text("utf-8")) for path in paths}


def script_names():
    return sorted([path.name for path in FOLDER.glob("*.py")] + list(_recipes()))


def source_of(name, encoding="utf-8"):
    if recipe := _recipes().get(name):
        return recipe["head"] + "".join(recipe["text"].replace("{n}", str(n)) for n in range(recipe["times"])) + recipe["tail"]
    return (FOLDER / name).read_bytes().decode(encoding)


def _recipes():
    return json.loads((FOLDER / "made.json").read_text("utf-8"))


def shorten(found):
    """What is empty or false is left out."""
    functions = {_title(tool): _parameters(tool["inputSchema"]) for tool in found["functions"]}
    facts = {
        "description": found["description"].partition("\n")[0],
        **({"functions": functions} if len(functions) <= _MOST_LISTED else {"functionCount": len(functions)}),
        "scripts": {tool["name"]: _shorten_script(tool) for tool in found["scripts"]},
        "remarks": [_shorten_remark(remark) for remark in found["remarks"]],
        "problem": found["problem"],
        **{name: found[name] for name in ("dependencies", "requiresPython", "imports", "hasMainGuard", "hasSideEffects")},
    }
    return {name: fact for name, fact in facts.items() if fact}


def _title(tool):
    return f"async {tool['function']}" if tool["isAsync"] else tool["function"]


def _parameters(schema):
    return [_name(name, schema) for name in schema["properties"]]


def _name(name, schema):
    return name if name in schema.get("required", ()) else f"{name}?"


def _shorten_script(tool):
    schema = tool["inputSchema"]
    facts = {
        "command": " ".join(tool["command"]),
        "description": tool["description"].partition("\n")[0],
        "parameters": {_name(rule["parameter"], schema): _shorten_rule(rule, schema) for rule in tool["argv"]},
        "parser": tool["parser"],
        "stdin": tool["stdin"],
        "entry": tool.get("entry"),
    }
    return {name: fact for name, fact in facts.items() if fact}


def _shorten_rule(rule, schema):
    about = schema["properties"][rule["parameter"]]
    words = [rule["flag"] or "word", rule["takes"], _type(about)]
    if "default" in about:
        words.append(f"= {json.dumps(_whole(about['default']), ensure_ascii=False, separators=(',', ':'))}")
    if "whenFalse" in rule:
        words.append(f"or {rule['whenFalse']}")
    if "before" in rule:
        words.append(f"before word {rule['before']}")
    return " ".join(words)


def _type(about):
    if "enum" in about:
        return "|".join(map(str, about["enum"]))
    if about.get("type") == "array":
        inner = ",".join(map(_type, about["prefixItems"])) if "prefixItems" in about else _type(about.get("items", {}))
        return f"[{inner}]{_limits(about, 'minItems', 'maxItems')}"
    form = about.get("format") or about.get("contentMediaType")
    return about.get("type", "any") + (f":{form}" if form else "") + _limits(about, "minimum", "maximum")


def _limits(about, low, high):
    return f"{{{about.get(low, '')}..{about.get(high, '')}}}" if low in about or high in about else ""


def _whole(value):
    """1.0 and 1 are the same in JSON."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shorten_remark(remark):
    return f"{remark['line']} {remark['name']}{' (skipped)' if remark['isSkipped'] else ''}: {remark['reason']}"
