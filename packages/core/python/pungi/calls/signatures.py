"""The parameters of a function. Plain functions are read directly, because importing `inspect` takes longer than a call."""

import sys

POSITIONAL_ONLY, BY_NAME, ALL_NAMED, ALL_POSITIONAL = "positional-only", "by-name", "all-named", "all-positional"
_FUNCTION_TYPE = type(lambda: None)
_TAKES_ARGS, _TAKES_KWARGS = 0x04, 0x08


class Parameter:
    """`names`: the variables for evaluating a type hint that is a string."""

    def __init__(self, name, kind, hint, names, is_required, default=None):
        self.name = name
        self.kind = kind
        self.hint = hint
        self.names = names
        self.is_required = is_required
        self.default = default


def parameters_of(function, names):
    """Returns the parameters in order; None if the function has no signature."""
    is_plain = type(function) is _FUNCTION_TYPE and not function.__dict__.keys() & {"__wrapped__", "__signature__"}
    if not is_plain:
        return _inspected(function, names)
    code, hints = function.__code__, annotations_of(function)
    count = code.co_argcount
    defaults, named_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
    first_default = count - len(defaults)
    found = []

    def add(name, kind, is_required, default=None):
        found.append(Parameter(name, kind, hints.get(name), function.__globals__, is_required, default))

    for index, name in enumerate(code.co_varnames[:count]):
        kind = POSITIONAL_ONLY if index < code.co_posonlyargcount else BY_NAME
        is_required = index < first_default
        add(name, kind, is_required, None if is_required else defaults[index - first_default])
    for name in code.co_varnames[count : count + code.co_kwonlyargcount]:
        add(name, BY_NAME, name not in named_defaults, named_defaults.get(name))
    rest = iter(code.co_varnames[count + code.co_kwonlyargcount :])
    if code.co_flags & _TAKES_ARGS:
        add(next(rest), ALL_POSITIONAL, False)
    if code.co_flags & _TAKES_KWARGS:
        add(next(rest), ALL_NAMED, False)
    return found


def annotations_of(owner):
    """Returns annotations unevaluated where they are strings. Since Python 3.14, reading them can raise NameError."""
    try:
        return dict(owner.__annotations__)
    except AttributeError:
        return {}
    except NameError:
        import annotationlib

        return annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)


def _inspected(function, names):
    """Handles decorated functions, classes, partial functions and callable objects."""
    import inspect

    kinds = {
        inspect.Parameter.POSITIONAL_ONLY: POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL: ALL_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD: ALL_NAMED,
    }
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    names = getattr(inspect.unwrap(function), "__globals__", names)
    nothing = inspect.Parameter.empty
    return [
        Parameter(
            each.name, kinds.get(each.kind, BY_NAME), None if each.annotation is nothing else each.annotation, names,
            each.default is nothing and each.kind not in kinds or each.default is nothing and each.kind is each.POSITIONAL_ONLY,
            None if each.default is nothing else each.default,
        )
        for each in parameters
    ]


def default_of(parameter):
    """Returns whether there is a default, and the default. A pydantic Field contains the real one."""
    if parameter.is_required:
        return False, None
    kind = type(parameter.default)
    if kind.__name__ != "FieldInfo" or not kind.__module__.startswith("pydantic"):
        return True, parameter.default
    if parameter.default.is_required():
        return False, None
    return True, parameter.default.get_default(call_default_factory=True)


def module_names(kind):
    """Returns the variables of the module that defines a class."""
    return getattr(sys.modules.get(getattr(kind, "__module__", None)), "__dict__", {})
