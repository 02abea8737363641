"""The parameters of a typer command: what their annotations and defaults make of them."""

import ast

from .click_options import read_argument, read_option
from .command_types import TEXT, choices_of, range_of, schema_of
from .static_values import UNKNOWN, Made, Reference

_LISTS = {"list", "List", "Sequence", "Iterable", "set", "Set", "Collection"}
_NOT_GIVEN = {"typer.Context", "click.Context", "typer.CallbackParam", "typer.models.Context"}
_DATE = "Such as 2024-01-31 or 2024-01-31T12:00:00."
_PASSED_ON = ("help", "envvar", "count", "hidden", "prompt", "is_flag", "flag_value")


class _Hint:
    """What an annotation says: `kind` of one value, whether there are `many`, or a tuple of `items`; `said`: its typer part."""

    def __init__(self):
        self.kind, self.is_list, self.items, self.said = None, False, [], None


def read_parameters(function, trace, findings):
    """Of a function that is a command."""
    about = function.node.args
    names = [*about.posonlyargs, *about.args]
    defaults = [None] * (len(names) - len(about.defaults)) + about.defaults
    found = []
    for parameter, default in [*zip(names, defaults), *zip(about.kwonlyargs, about.kw_defaults)]:
        hint = _read_hint(parameter.annotation, function, trace, _Hint())
        if isinstance(hint.kind, Reference) and hint.kind.name in _NOT_GIVEN:
            continue
        read = _read_parameter(parameter, default, hint, function, trace, findings)
        if read is not None:
            found.append(read)
    return found


def _read_hint(node, function, trace, hint):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return hint
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [side for side in (node.left, node.right) if not (isinstance(side, ast.Constant) and side.value is None)]
        return _read_hint(sides[0], function, trace, hint) if len(sides) == 1 else hint
    if isinstance(node, ast.Subscript):
        return _read_generic(node, function, trace, hint)
    if node is not None:
        hint.kind = trace.value(node, function.scope)
        if isinstance(hint.kind, Reference) and hint.kind.name.rpartition(".")[2] in _LISTS:
            hint.kind, hint.is_list = None, True
    return hint


def _read_generic(node, function, trace, hint):
    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if owner == "Annotated":
        said = [trace.value(part, function.scope) for part in parts[1:]]
        hint.said = next((each for each in said if _typer_kind(each)), None)
        return _read_hint(parts[0], function, trace, hint)
    if owner in ("Optional", "Union"):
        left = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
        return _read_hint(left[0], function, trace, hint) if len(left) == 1 else hint
    if owner == "Literal":
        hint.kind = choices_of([trace.value(part, function.scope) for part in parts])
    elif owner in _LISTS:
        hint.is_list = True
        return _read_hint(parts[0], function, trace, hint)
    elif owner in ("tuple", "Tuple"):
        hint.items = [trace.value(part, function.scope) for part in parts]
        hint.kind = tuple(hint.items)
    return hint


def _typer_kind(value):
    is_said = isinstance(value, Made) and isinstance(value.callee, Reference)
    return value.callee.name if is_said and value.callee.name in ("typer.Option", "typer.Argument") else ""


def _read_parameter(parameter, default_node, hint, function, trace, findings):
    default = trace.value(default_node, function.scope) if default_node is not None else ...
    said, declared = hint.said, [] if hint.said is None else list(hint.said.args)
    if _typer_kind(default):
        said, declared = default, list(default.args[1:])
        default = said.kwargs.get("default", said.args[0] if said.args else ...)
    about = {name: said.kwargs[name] for name in _PASSED_ON if said is not None and name in said.kwargs}
    if said is not None and "default_factory" in said.kwargs:
        default = UNKNOWN
    about["default"] = None if default is ... else default
    about["type"] = _type(hint, said)
    is_argument = _typer_kind(said) == "typer.Argument" or said is None and default is ...
    line = parameter.lineno
    if isinstance(hint.kind, Reference) and hint.kind.name.startswith("datetime."):
        about["help"] = " ".join(filter(None, [about.get("help") if isinstance(about.get("help"), str) else "", _DATE]))
    if is_argument:
        if hint.is_list:
            about["nargs"] = -1
        about["required"] = default is ...
        return read_argument(about, [parameter.arg], line, findings)
    about["required"] = default is ...
    return _read_option(parameter.arg, declared, hint, about, line, findings)


def _read_option(name, declared, hint, about, line, findings):
    declared = [text for text in declared if isinstance(text, str)]
    flag = f"--{name.lower().replace('_', '-')}"
    is_switch = about["type"] == {"type": "boolean"} and not hint.is_list and about.get("count") is not True
    if not any(text.startswith("-") or "/" in text for text in declared):
        declared.append(f"{flag}/--no-{flag[2:]}" if is_switch else flag)
    if is_switch:
        about["is_flag"] = True
        # Without a default both ways must be said.
        about["required"] = about["required"] and any("/" in text for text in declared)
    if hint.is_list:
        about["multiple"] = True
    return read_option(about, [name, *declared], line, findings)


def _type(hint, said):
    about = {} if said is None else said.kwargs
    if "parser" in about or "click_type" in about:
        return schema_of(about.get("click_type")) or dict(TEXT)
    if isinstance(hint.kind, tuple):
        return hint.kind
    schema = schema_of(hint.kind) or dict(TEXT)
    if isinstance(hint.kind, Reference) and hint.kind.name.startswith("datetime."):
        return dict(TEXT)
    if schema.get("type") in ("integer", "number") and "enum" not in schema:
        return range_of(schema["type"], about.get("min"), about.get("max"))
    return schema
