"""Reads tools.json, or the NAME.tools.json of several scripts: the only source of the offered tools. Reports everything that is
wrong with them."""

import json
import os

_NAME_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_TAKES = ("one", "many", "each", "nothing", "count")
_OF_EVERY_TOOL = (("name", str), ("description", str), ("inputSchema", dict))
_OF_KIND = {
    "function": (("function", str), ("wrapsResult", bool)),
    "script": (("command", list), ("argv", list)),
}
_KIND_WORDS = {str: "a text", dict: "an object", list: "a list", bool: "true or false"}


class ToolsFileFault(Exception):
    """An invalid tools file, with a sentence for each fault."""


class Offer:
    """The tools of all scripts of the folder, by their names."""

    def __init__(self, files, folder):
        self.files = files
        self.name = files[0].name if len(files) == 1 else os.path.basename(folder)
        self.description = "\n\n".join(each.description for each in files if each.description)
        self.tools = {name: tool for each in files for name, tool in each.tools.items()}
        self._file_of = {name: each for each in files for name in each.tools}

    def file_of(self, tool):
        return self._file_of[tool["name"]]


class ToolsFile:
    def __init__(self, content, path):
        folder, self.filename = os.path.split(path)
        self.name = content["name"]
        self.description = content.get("description") or ""
        self.script = os.path.normpath(os.path.join(folder, content["script"]))
        self.package = content.get("package")
        self.tools = {tool["name"]: tool for tool in content["tools"] if not tool.get("hidden")}
        self.sha256 = content.get("sha256")


def read_offer(folder):
    names = [name for name in sorted(os.listdir(folder)) if name == "tools.json" or name.endswith(".tools.json")]
    if not names:
        raise ToolsFileFault("There is no tools.json next to the wrapper.")
    offer = Offer([_read_tools_file(os.path.join(folder, name)) for name in names], folder)
    if len(offer.tools) < sum(len(each.tools) for each in offer.files):
        twice = sorted(name for name in offer.tools if sum(name in each.tools for each in offer.files) > 1)
        raise ToolsFileFault(f"{', '.join(names)}: two tools are called {twice[0]!r}.")
    return offer


def _read_tools_file(path):
    filename = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read().decode("utf-8-sig"), parse_constant=_refuse_number)
    except (OSError, ValueError, RecursionError) as error:
        raise ToolsFileFault(f"{filename} cannot be read: {error}") from None
    faults = list(_faults_of(content))
    if faults:
        raise ToolsFileFault("\n".join(f"{filename}: {fault}" for fault in faults))
    found = ToolsFile(content, path)
    if not os.path.isfile(found.script):
        raise ToolsFileFault(f"{filename}: script: there is no file {content['script']!r}.")
    return found


def has_changed(tools_file):
    """Whether the script has changed since it was wrapped."""
    import hashlib

    with open(tools_file.script, "rb") as file:
        return bool(tools_file.sha256) and hashlib.sha256(file.read()).hexdigest() != tools_file.sha256


def _refuse_number(text):
    raise ValueError(f"{text} is not JSON")


def _faults_of(content):
    if not isinstance(content, dict):
        yield "it must hold an object."
        return
    if content.get("version") != 1:
        yield f"version: expected 1, got {content.get('version')!r}; a newer wrapper may support it."
    yield from _kind_faults(content, "", (("name", str), ("script", str), ("tools", list)))
    seen = set()
    tools = content.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        place = f"tools[{index}]"
        if not isinstance(tool, dict):
            yield f"{place}: must be an object."
            continue
        yield from _tool_faults(tool, place)
        name = tool.get("name")
        if isinstance(name, str) and not tool.get("hidden"):
            if name in seen:
                yield f"{place}.name: two tools are called {name!r}."
            seen.add(name)


def _tool_faults(tool, place):
    kind = tool.get("kind")
    if kind not in ("function", "script"):
        yield f'{place}.kind: expected "function" or "script", got {kind!r}.'
        return
    yield from _kind_faults(tool, place, _OF_EVERY_TOOL + _OF_KIND[kind])
    name = tool.get("name")
    if isinstance(name, str) and not (0 < len(name) <= 128 and set(name) <= _NAME_LETTERS):
        yield f'{place}.name: expected 1 to 128 letters, digits, "_", "-" and ".", got {name!r}.'
    # A client refuses the whole list for one schema of another kind.
    for member in ("inputSchema", "outputSchema"):
        if isinstance(tool.get(member), dict) and tool[member].get("type") != "object":
            yield f'{place}.{member}.type: must be "object".'
    for member, wanted in (("outputSchema", dict), ("parser", str), ("stdin", str), ("title", str), ("annotations", dict)):
        if tool.get(member) is not None and not isinstance(tool[member], wanted):
            yield f"{place}.{member}: must be {_KIND_WORDS[wanted]}."
    if kind == "script" and isinstance(tool.get("argv"), list):
        tool.setdefault("stdin", None)
        tool.setdefault("parser", None)
        yield from _argv_faults(tool, place)


def _argv_faults(tool, place):
    if not all(isinstance(word, str) for word in tool["command"] if isinstance(tool["command"], list)):
        yield f"{place}.command: must hold texts."
    for index, rule in enumerate(tool["argv"]):
        is_rule = isinstance(rule, dict) and isinstance(rule.get("parameter"), str) and rule.get("takes") in _TAKES
        if not is_rule or not isinstance(rule.setdefault("flag", None), (str, type(None))):
            yield f"{place}.argv[{index}]: wants a parameter, a flag or null, and takes: {', '.join(_TAKES)}."
        elif not isinstance(rule.get("before", 0), int):
            yield f"{place}.argv[{index}].before: must be a whole number."


def _kind_faults(holder, place, wanted):
    for member, kind in wanted:
        if not isinstance(holder.get(member), kind):
            yield f"{place}{'.' if place else ''}{member}: expected {_KIND_WORDS[kind]}."
