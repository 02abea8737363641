"""Click's options and arguments as parameters: `click.option(…)`, `click.argument(…)`, and what typer makes of them."""

import re

from .command_model import Parameter, longest_flag, parameter_name, sentences, switch
from .command_types import TEXT, schema_of, type_of_default
from .static_values import UNKNOWN, EnumMember, Function, Made, Reference

_READY_MADE = {"confirmation_option": "--yes", "password_option": "--password"}


def read_option(about, declared, line, findings):
    """None: it is not for callers. `declared`: names and flags as click takes them; `about`: the keywords."""
    flags, off, name = _declared(declared)
    if not flags:
        return None
    flag = longest_flag(flags)
    dest = name or parameter_name(flag).lower()
    if about.get("hidden") is True:
        findings.remark(line, dest, "the script's own help hides it", True)
        return None
    if "**" in about:
        findings.remark(line, dest, "some of its keywords are known only when the script runs")
    parameter = _shape(about, dest, flag, off, line, findings)
    _set_default(parameter, about, line, findings)
    # Nobody is there to answer a prompt.
    must_be_asked = about.get("prompt") not in (None, False) and about.get("prompt_required") is not False
    is_without_default = about.get("default", None) is None
    parameter.is_required = about.get("required") is True or must_be_asked and is_without_default and parameter.takes == "one"
    parameter.description = _describe(about)
    return parameter


def _declared(declared):
    """(flags, the flag that turns it off, the name of the parameter if one is given)"""
    flags, off, name = [], None, None
    for text in declared:
        if not isinstance(text, str):
            continue
        if text.isidentifier():
            name = text
            continue
        separator = ";" if text.startswith("/") and ";" in text else "/"
        on, _, no = (part.strip() for part in (text.partition(separator) if separator in text[1:] else (text, "", "")))
        if on:
            flags.append(on)
        if no:
            off = no if off is None or no.startswith("--") and not off.startswith("--") else off
    if not flags and off:
        # It can only be turned off: then that is what the parameter means.
        return [off], None, parameter_name(off).lower()
    return flags, off, name


def _shape(about, dest, flag, off, line, findings):
    kind, default = about.get("type"), about.get("default")
    if about.get("count") is True:
        return Parameter(dest, flag, "count", {"type": "integer", "minimum": 0}, line)
    if about.get("flag_value") is not None:
        return switch(parameter_name(flag), flag, line)
    is_flag = about.get("is_flag") is True or off is not None or isinstance(default, bool) and kind is None
    if is_flag and about.get("is_flag") is not False:
        return switch(dest, flag, line, off)
    parameter = Parameter(dest, flag, "one", _schema(kind, default), line)
    nargs = about.get("nargs", 1)
    if about.get("multiple") is True:
        parameter.takes = "each"
        if nargs != 1 or _items(kind):
            findings.remark(line, dest, "each use of it takes several values, which cannot be said")
            parameter.takes, parameter.size = "many", {}
    elif _items(kind) or type(nargs) is int and nargs > 1:
        _take_several(parameter, kind, nargs)
    return parameter


def _items(kind):
    """The types of a tuple, where it is one."""
    if isinstance(kind, (list, tuple)):
        return list(kind)
    is_tuple = isinstance(kind, Made) and isinstance(kind.callee, Reference) and kind.callee.name.endswith("click.Tuple")
    return list(kind.args[0]) if is_tuple and kind.args and isinstance(kind.args[0], (list, tuple)) else []


def _take_several(parameter, kind, nargs):
    items = [schema_of(each) or dict(TEXT) for each in _items(kind)]
    number = len(items) or nargs
    parameter.takes = "many"
    parameter.size = {"minItems": number, "maxItems": number}
    if items and any(item != items[0] for item in items):
        parameter.size["prefixItems"] = items
        parameter.schema = {}
    elif items:
        parameter.schema = items[0]


def _schema(kind, default):
    if kind is None:
        return type_of_default(default[0] if isinstance(default, (list, tuple)) and default else default)
    return schema_of(kind) or dict(TEXT)


def read_argument(about, declared, line, findings):
    names = [text for text in declared if isinstance(text, str)]
    if not names:
        findings.remark(line, "argument", "its name is known only when the script runs", True)
        return None
    kind, nargs = about.get("type"), about.get("nargs", 1)
    parameter = Parameter(parameter_name(names[0]).lower(), None, "one", _schema(kind, about.get("default")), line)
    if nargs == -1:
        parameter.takes = "many"
    elif _items(kind) or type(nargs) is int and nargs > 1:
        _take_several(parameter, kind, nargs)
    has_default = about.get("default") is not None and about.get("default") is not ...
    required = about.get("required", UNKNOWN)
    parameter.is_required = required if isinstance(required, bool) else not has_default and nargs != -1
    if nargs == -1 and parameter.is_required:
        parameter.size = {"minItems": 1}
    _set_default(parameter, about, line, findings)
    parameter.description = _describe(about)
    return parameter


def _set_default(parameter, about, line, findings):
    default = about.get("default")
    if parameter.takes == "nothing":
        parameter.default = default is True and parameter.when_false is not None
        return
    if isinstance(default, EnumMember):
        default = default.value
    if isinstance(default, Made) and default.is_of("pathlib.Path") and len(default.args) == 1:
        default = default.args[0]
    if default is UNKNOWN or isinstance(default, (Made, Reference, Function)):
        findings.remark(line, parameter.name, "its default is known only when the script runs")
        return
    is_list = isinstance(default, (list, tuple))
    if default is None or default is ... or is_list != (parameter.takes in ("many", "each")):
        return
    parameter.default = list(default) if is_list else default


def _describe(about):
    text = about.get("help")
    text = re.sub(r"\s+", " ", text).strip() if isinstance(text, str) else ""
    variable = about.get("envvar")
    variable = variable if isinstance(variable, str) else ", ".join(variable) if _are_texts(variable) else ""
    return sentences(text, f"Also set by the environment variable {variable}." if variable else "")


def _are_texts(value):
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(each, str) for each in value)


def read_ready_made(kind, made, findings):
    """Options that click brings with it, as far as callers have to say them."""
    if kind not in _READY_MADE:
        return None
    names = [name for name in made.args if isinstance(name, str)] or [_READY_MADE[kind]]
    if kind == "confirmation_option":
        parameter = switch(parameter_name(longest_flag(names)), longest_flag(names), made.line)
        parameter.description = "Confirms, since nobody is there to be asked."
        parameter.is_required = True
        return parameter
    return read_option({"prompt": True, **made.kwargs}, names, made.line, findings)
