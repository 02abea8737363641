"""Finds the function to call, calls it, and awaits its result."""

import itertools

from .convert import convert_arguments
from .results import FirstValues
from .words import not_known, format_issue

_MOST_COLLECTED = 100_000
_LAZY = (map, filter, zip, enumerate, reversed)


def prepare_call(variables, name, arguments):
    """Returns the function, its positional arguments, its named arguments, and one sentence for each problem.

    `variables` are the script's, after it has run."""
    function = variables.get(name)
    if not callable(function):
        return None, [], {}, [format_issue((name,), _why_no_function(variables, name))]
    return function, *convert_arguments(function, arguments, variables)


def perform_call(function, positional, named):
    """Returns the result: awaited if it is asynchronous, collected into a list if it is an iterator."""
    value = function(*positional, **named)
    kind = type(value)
    if hasattr(kind, "__await__"):
        value = _run_in_loop(_await_one(value))
    elif hasattr(kind, "__anext__"):
        return _bounded_list(_run_in_loop(_await_all(value)))
    if type(value) in _LAZY or hasattr(type(value), "gi_frame"):
        return _bounded_list(list(itertools.islice(value, _MOST_COLLECTED + 1)))
    return value


def _bounded_list(values):
    return values if len(values) <= _MOST_COLLECTED else FirstValues(values[:_MOST_COLLECTED])


def _run_in_loop(waiting):
    """Keeps the frames of the event loop out of the traceback: an exception is returned and raised again outside."""
    import asyncio

    async def carry():
        try:
            return await waiting, None
        except BaseException as error:
            return None, error

    found, error = asyncio.run(carry())
    if error is not None:
        raise error
    return found


async def _await_one(value):
    return await value


async def _await_all(source):
    found = []
    async for each in source:
        found.append(each)
        if len(found) > _MOST_COLLECTED:
            break
    return found


def _why_no_function(variables, name):
    if name in variables:
        return f"is no function, but a {type(variables[name]).__name__}"
    functions = [each for each, value in variables.items() if hasattr(value, "__code__") and not each.startswith("_")]
    return not_known(name, functions).replace("is not known", "is no function of the script")
