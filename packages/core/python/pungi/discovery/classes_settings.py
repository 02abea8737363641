"""The configuration of a pydantic model: what else may come, and by which names."""

import ast

from .defaults import evaluate_or

_TAKEN = ("extra", "serialize_by_alias")


def settings_of(definition, names):
    found = _texts({each.arg: each.value for each in definition.keywords if each.arg}, names)
    for statement in definition.body:
        if isinstance(statement, ast.ClassDef) and statement.name == "Config":
            found |= _texts(_assigned(statement), names)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(target, ast.Name) and target.id == "model_config":
            found |= _texts(_entries(statement.value), names)
    return found


def _assigned(definition):
    return {
        target.id: statement.value for statement in definition.body if isinstance(statement, ast.Assign)
        for target in statement.targets if isinstance(target, ast.Name)
    }


def _entries(value):
    """ConfigDict(extra="forbid") or {"extra": "forbid"}."""
    if isinstance(value, ast.Call):
        return {each.arg: each.value for each in value.keywords if each.arg}
    if isinstance(value, ast.Dict):
        return {key.value: item for key, item in zip(value.keys, value.values) if isinstance(key, ast.Constant)}
    return {}


def _texts(nodes, names):
    found = {key: evaluate_or(nodes[key], names) for key in _TAKEN if key in nodes}
    generator = _GENERATORS.get(names.outside_name(nodes["alias_generator"])) if "alias_generator" in nodes else None
    return found | ({"alias_generator": generator} if generator else {})


def _to_pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _to_camel(name):
    pascal = _to_pascal(name)
    return pascal[:1].lower() + pascal[1:]


_GENERATORS = {"pydantic.alias_generators.to_camel": _to_camel, "pydantic.alias_generators.to_pascal": _to_pascal}
