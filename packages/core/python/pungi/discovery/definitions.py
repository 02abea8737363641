"""Puts definitions where they are used, since not every client follows $ref.

Only what is used twice, or contains itself, stays below $defs.
"""

_PREFIX = "#/$defs/"


def with_definitions(schema, definitions):
    """The schema, complete. Its root is written out even where it is a definition that contains itself."""
    if "$ref" in schema:
        root = {key: value for key, value in schema.items() if key != "$ref"}
        schema = definitions[schema["$ref"].removeprefix(_PREFIX)] | root
    uses, direct = _count(schema, definitions)
    kept = {name for name in uses if uses[name] > 1 or _reaches(name, name, direct)}
    schema = _put_in(schema, definitions, kept)
    used = {name: _put_in(definitions[name], definitions, kept) for name in definitions if name in kept}
    return schema | {"$defs": used} if used else schema


def size_of(part):
    """Counts the parts of a schema, without the definitions that it refers to."""
    if isinstance(part, dict):
        return 1 + sum(map(size_of, part.values()))
    return 1 + sum(map(size_of, part)) if isinstance(part, list) else 1


def _count(schema, definitions):
    """(how often each definition is used, which definitions each one uses)."""
    uses, direct, waiting = {}, {}, [(None, schema)]
    while waiting:
        owner, part = waiting.pop()
        direct[owner] = set()
        for name in _references(part):
            if name not in uses:
                waiting.append((name, definitions[name]))
            uses[name] = uses.get(name, 0) + 1
            direct[owner].add(name)
    return uses, direct


def _reaches(start, goal, direct):
    seen, waiting = set(), list(direct[start])
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            waiting.extend(direct[name])
    return False


def _references(part):
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str) and part["$ref"].startswith(_PREFIX):
            yield part["$ref"].removeprefix(_PREFIX)
        for key, value in part.items():
            if key not in ("default", "examples", "enum", "const"):
                yield from _references(value)
    elif isinstance(part, list):
        for each in part:
            yield from _references(each)


def _put_in(part, definitions, kept):
    if isinstance(part, list):
        return [_put_in(each, definitions, kept) for each in part]
    if not isinstance(part, dict):
        return part
    name = part["$ref"].removeprefix(_PREFIX) if isinstance(part.get("$ref"), str) else None
    if name is None or name in kept:
        same = ("default", "examples", "enum", "const")
        return {key: value if key in same else _put_in(value, definitions, kept) for key, value in part.items()}
    rest = {key: value for key, value in part.items() if key != "$ref"}
    return _put_in(definitions[name], definitions, kept) | rest
