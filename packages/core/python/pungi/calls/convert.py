"""Converts JSON arguments to the type hints of a function."""

import sys

from .classes import build_class, is_class, validate_by_pydantic
from .scalars import Unfit, hint_words
from .signatures import (
    ALL_NAMED, ALL_POSITIONAL, BY_NAME, POSITIONAL_ONLY, Parameter, annotations_of, default_of, module_names, parameters_of,
)
from .texts import decode_as
from .words import describe_actual, not_known, format_issue

_MISSING_NAME = object()


class _NoTyping:
    """Replaces `typing` if the script has not imported it: then no hint uses it, and importing it takes longer than a call."""

    Any = Literal = Union = object()

    class TypeVar:
        pass


def convert_arguments(function, arguments, names):
    """Returns the positional arguments, the named arguments, and one sentence for each problem.

    `names`: the variables of the script, to evaluate type hints that are strings.
    """
    parameters = parameters_of(function, names)
    if parameters is None:
        return [], dict(arguments), []
    known = {each.name: each for each in parameters if each.kind not in (ALL_NAMED, ALL_POSITIONAL)}
    others = next((each for each in parameters if each.kind == ALL_NAMED), None)
    fields = _unpacked_fields(others) if others is not None else {}
    positional, named, issues = [], {}, []
    for name, value in arguments.items():
        parameter = known.get(name) or fields.get(name, others)
        if parameter is None:
            issues.append(format_issue((name,), not_known(name, known)))
            continue
        try:
            named[name] = convert_argument(parameter, value, name)
        except Unfit as unfit:
            issues.append(format_issue(unfit.path, unfit.reason))
    for parameter in known.values():
        if parameter.name not in arguments:
            has_default, default = default_of(parameter)
            if not has_default:
                issues.append(format_issue((parameter.name,), "is missing"))
            elif default is not parameter.default or parameter.kind == POSITIONAL_ONLY:
                named[parameter.name] = default
    if not issues:
        positional = [named.pop(each.name) for each in known.values() if each.kind == POSITIONAL_ONLY]
    return positional, named, issues


def _unpacked_fields(parameter):
    """Returns the fields of `Options` for `**options: Unpack[Options]`: each is an argument of its own."""
    try:
        hint = _resolved(parameter.hint, parameter.names)
        if getattr(getattr(hint, "__origin__", None), "_name", None) != "Unpack":
            return {}
        kind = _resolved(hint.__args__[0], parameter.names)
        hints, names = annotations_of(kind), module_names(kind)
    except Exception:
        return {}  # the hint is not a type
    return {name: Parameter(name, BY_NAME, hint, names, is_required=True) for name, hint in hints.items()}


def convert_argument(parameter, value, name):
    # "count: int = None" accepts None, despite its hint.
    if parameter.hint is None or (value is None and not parameter.is_required and parameter.default is None):
        return value
    try:
        return convert_value(parameter.hint, value, parameter.names, (name,))
    except RecursionError:
        raise Unfit((name,), "is nested too deeply") from None
    except (Unfit, MemoryError):
        raise
    except Exception:
        return value  # the hint is not a type


def convert_value(hint, value, names, path):
    hint = _resolved(hint, names)
    typing = sys.modules.get("typing", _NoTyping)
    if hint is typing.Any or hint is object or hint is _MISSING_NAME:
        return value
    if hint is None or hint is type(None):
        return _nothing(value, path)
    if hasattr(hint, "__metadata__"):
        return _convert_annotated(hint, value, names, path)
    if is_class(hint):
        return build_class(hint, value, path, convert_value)
    options = _options_of(hint, typing)
    if options is not None:
        return _convert_union(options, value, names, path)
    # A bare typing.Tuple has no __args__; those of tuple[()] are empty.
    origin, parts = getattr(hint, "__origin__", None), getattr(hint, "__args__", (object, Ellipsis))
    if origin is typing.Literal:
        return _choose(parts, value, path)
    if getattr(origin, "_name", None) in _TRANSPARENT:
        return convert_value(parts[0], value, names, path)
    if hasattr(hint, "__supertype__"):
        return convert_value(hint.__supertype__, value, names, path)
    if hasattr(hint, "__value__"):
        return convert_value(hint.__value__, value, names, path)  # type X = …
    if isinstance(hint, typing.TypeVar):
        return _convert_variable(hint, value, names, path)
    if is_class(origin):
        return _convert_generic(origin, parts, value, names, path)
    return value


_TRANSPARENT = {"Required", "NotRequired", "ReadOnly", "Final", "ClassVar", "Unpack"}


def _resolved(hint, names):
    """Evaluates a hint that is a string or a forward reference. With an unknown name, the value is not converted."""
    for _ in range(10):
        text = hint if type(hint) is str else getattr(hint, "__forward_arg__", None)
        if text is None or is_class(hint):
            return hint
        try:
            hint = eval(text, names)
        except (RecursionError, MemoryError):
            raise  # caused by the depth of the value, not by the name
        except Exception:
            return _MISSING_NAME
    return _MISSING_NAME


def _nothing(value, path):
    if value is None or value == "null":
        return None
    raise Unfit(path, f"expected null, got {describe_actual(value)}")


def _convert_annotated(hint, value, names, path):
    modules = {type(each).__module__.partition(".")[0] for each in hint.__metadata__}
    pydantic = sys.modules.get("pydantic") if modules & {"pydantic", "pydantic_core", "annotated_types"} else None
    if pydantic is None or not hasattr(pydantic, "TypeAdapter"):
        return convert_value(hint.__origin__, value, names, path)
    return validate_by_pydantic(pydantic.TypeAdapter(hint).validate_python, value, path)


def _options_of(hint, typing):
    if getattr(hint, "__origin__", None) is typing.Union or type(hint).__name__ in ("UnionType", "Union"):
        return hint.__args__
    return None


def _convert_union(options, value, names, path):
    """Prefers the option of the value's own type: "10" stays a text if a text is allowed."""
    options = [_resolved(option, names) for option in options]
    exact = [option for option in options if getattr(option, "__origin__", option) is type(value)]
    failures = []
    for option in exact + [option for option in options if option not in exact]:
        try:
            return convert_value(option, value, names, path)
        except Unfit as unfit:
            failures.append((option, unfit))
    real = [unfit for option, unfit in failures if option is not type(None)]
    inside = [unfit for unfit in real if len(unfit.path) > len(path)]
    if len(real) == 1 or len(inside) == 1:
        raise (inside or real)[0]
    wanted = dict.fromkeys(hint_words(option) for option in options)
    raise Unfit(path, f"expected {' or '.join(wanted)}, got {describe_actual(value)}")


def _choose(choices, value, path):
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    for choice in choices:
        if type(value) is str and (value == str(choice) or value == getattr(choice, "value", None)):
            return choice
    wanted = ", ".join(repr(choice) for choice in choices[:20])
    raise Unfit(path, f"expected {'one of ' if len(choices) > 1 else ''}{wanted}, got {describe_actual(value)}")


def _convert_variable(variable, value, names, path):
    if variable.__constraints__:
        return _convert_union(variable.__constraints__, value, names, path)
    return value if variable.__bound__ is None else convert_value(variable.__bound__, value, names, path)


def _convert_generic(origin, parts, value, names, path):
    import collections
    import collections.abc as kinds

    if issubclass(origin, tuple):
        return _convert_tuple(parts, value, names, path)
    if issubclass(origin, kinds.Mapping):
        entries = _as_json(dict, value, path)
        key_hint, value_hint = (*parts, int, int)[:2] if origin is collections.Counter else (*parts, object, object)[:2]
        found = {
            convert_value(key_hint, key, names, (*path, key)): convert_value(value_hint, each, names, (*path, key))
            for key, each in entries.items()
        }
        return _made_of(origin, found, (dict, kinds.Mapping, kinds.MutableMapping), path)
    if issubclass(origin, kinds.Set):
        made = set if origin in (kinds.Set, kinds.MutableSet) else origin
        return _made_of(made, _items(parts, value, names, path), (), path)
    if origin in (kinds.Callable, type):
        return value
    if issubclass(origin, kinds.Iterator):
        return iter(_items(parts, value, names, path))
    if issubclass(origin, kinds.Iterable) and origin.__module__ in ("builtins", "collections", "collections.abc"):
        plain = (list, kinds.Iterable, kinds.Collection, kinds.Sequence, kinds.MutableSequence)
        return _made_of(origin, _items(parts, value, names, path), plain, path)
    return build_class(origin, value, path, convert_value)


def _items(parts, value, names, path):
    hint = parts[0] if parts else object
    items = [convert_value(hint, each, names, (*path, index)) for index, each in enumerate(_as_json(list, value, path))]
    return items


def _convert_tuple(parts, value, names, path):
    items = _as_json(list, value, path)
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_items(parts, items, names, path))
    parts = () if parts == ((),) else parts  # tuple[()] on Python 3.10
    if len(items) != len(parts):
        raise Unfit(path, f"expected a list of {len(parts)}, got {describe_actual(value)}")
    return tuple(convert_value(part, each, names, (*path, index)) for index, (part, each) in enumerate(zip(parts, items)))


def _made_of(origin, found, plain, path):
    """The plain type satisfies an abstract hint; a concrete class is created from it."""
    if origin in plain:
        return found
    try:
        if origin.__name__ == "defaultdict":
            return origin(None, found)
        return origin(found)
    except Exception as error:
        raise Unfit(path, f"cannot be made a {origin.__name__}: {error}") from None


def _as_json(kind, value, path):
    if type(value) is kind:
        return value
    if kind is list and type(value) in (tuple, set, frozenset):
        return list(value)
    try:
        return decode_as(kind, value)
    except (ValueError, RecursionError):
        wanted = "a list" if kind is list else "an object"
        raise Unfit(path, f"expected {wanted}, got {describe_actual(value)}") from None
