"""Validates arguments against the JSON Schema of a tool, and converts values of a similar type, such as "10" for 10."""

import json

from .keywords import FORMAT_WORDS, count_faults, fit_choices, is_of_kind, number_faults, text_faults, turned_into
from .words import cut_shown, describe_actual, not_known, format_issue

_MOST_ISSUES = 20
_DEEPEST_ARGUMENT = 100
_MOST_CHOICES = 20
_MOST_TRIED = 100_000
_TYPE_WORDS = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list",
    "object": "an object", "null": "null",
}


def check(schema, arguments, tries_patterns=True):
    """Returns the converted arguments, and one sentence for each problem.

    Defaults are not filled in: Python does that. Matching a pattern can take forever: a process that must not block passes
    `tries_patterns=False`, and leaves patterns to another process.
    """
    if type(arguments) is not dict:
        return {}, [f"The arguments: expected an object, got {describe_actual(arguments)}"]
    try:
        found, issues = _SchemaCheck(schema, tries_patterns).check_root(arguments)
    except RecursionError:
        return {}, ["The arguments, or their schema, are nested too deeply"]
    except _TooManyTried:
        return {}, ["The arguments cannot be checked: there are too many ways to read them"]
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        return {}, [f"The schema of the arguments cannot be used: {type(error).__name__}: {error}"]
    return found, [format_issue(path, reason) for path, reason in issues[:_MOST_ISSUES]]


class _TooManyTried(Exception):
    """Nested choices (anyOf) have exponentially many combinations."""


class _SchemaCheck:
    """Issues are (path, reason). `is_lax`: values of a similar type are converted."""

    def __init__(self, root, tries_patterns):
        self._root = root if type(root) is dict else {}
        self._tries_patterns = tries_patterns
        self._tried = 0

    def check_root(self, arguments):
        root = {"additionalProperties": False} | self._root
        return self._fit_object(root, arguments, (), 0, True)

    def _fit(self, schema, value, path, depth, is_lax):
        if schema is False:
            return value, [(path, "must not be given")]
        if type(schema) is not dict:
            return value, []
        if depth > _DEEPEST_ARGUMENT:
            return value, [(path, f"is nested more than {_DEEPEST_ARGUMENT} deep, or its schema refers to itself")]
        for part in self._parts(schema):
            value, issues = self._fit(part, value, path, depth + 1, is_lax)
            if issues:
                return value, issues
        for name in ("anyOf", "oneOf"):
            if type(schema.get(name)) is list:
                value, issues = self._fit_any(schema[name], value, path, depth, is_lax)
                if issues:
                    return value, issues
        value, is_fit = self._fit_type(schema, value, is_lax)
        if not is_fit:
            return value, [self._unfit(schema, value, path)]
        # Without its patterns, more values would match the schema under "not".
        if "not" in schema and self._tries_patterns and not self._fit(schema["not"], value, path, depth + 1, False)[1]:
            return value, [(path, f"must be something else than {describe_actual(value)}")]
        return self._fit_inside(schema, value, path, depth, is_lax)

    def _parts(self, schema):
        if "$ref" in schema:
            yield self._target(schema["$ref"])
        if type(schema.get("allOf")) is list:
            yield from schema["allOf"]

    def _target(self, reference):
        """Resolves a reference within the schema. A reference to another document allows any value."""
        if type(reference) is not str or not reference.startswith("#"):
            return True
        place = self._root
        for part in filter(None, reference[1:].split("/")):
            part = part.replace("~1", "/").replace("~0", "~")
            place = place.get(part, True) if type(place) is dict else True
        return place

    def _fit_any(self, options, value, path, depth, is_lax):
        """Prefers an option that fits without conversion: "10" stays a text if a text is allowed."""
        tried = []
        for lax in (False, True) if is_lax else (False,):
            tried = []
            for option in options:
                self._tried += 1
                if self._tried > _MOST_TRIED:
                    raise _TooManyTried
                found, issues = self._fit(option, value, path, depth + 1, lax)
                if not issues:
                    return found, []
                tried.append((option, issues))
        inside = [issues for _, issues in tried if all(len(where) > len(path) for where, _ in issues)]
        if inside:
            return value, min(inside, key=len)
        real = [issues for option, issues in tried if not (type(option) is dict and option.get("type") == "null")]
        return value, real[0] if len(real) == 1 else [self._unfit({"anyOf": options}, value, path)]

    def _fit_type(self, schema, value, is_lax):
        wanted = schema.get("type")
        kinds = [wanted] if type(wanted) is str else wanted if type(wanted) is list else []
        is_fit = not kinds or any(is_of_kind(kind, value) for kind in kinds)
        if not is_fit and is_lax:
            value, is_fit = turned_into(kinds, value)
        if is_fit:
            value, is_fit = fit_choices(schema, value, is_lax)
        return value, is_fit

    def _fit_inside(self, schema, value, path, depth, is_lax):
        if type(value) is str:
            return value, [(path, reason) for reason in text_faults(schema, value, self._tries_patterns)]
        if type(value) in (int, float):
            return value, [(path, reason) for reason in number_faults(schema, value)]
        if type(value) is list:
            return self._fit_list(schema, value, path, depth, is_lax)
        if type(value) is dict:
            return self._fit_object(schema, value, path, depth, is_lax)
        return value, []

    def _fit_list(self, schema, values, path, depth, is_lax):
        issues = [(path, reason) for reason in count_faults(schema, len(values), "Items", "items")]
        first = schema.get("prefixItems")
        first = first if type(first) is list else []
        rest = schema.get("items", True)
        found = []
        for index, value in enumerate(values):
            each = first[index] if index < len(first) else rest
            if each is False:
                issues.append(((*path, index), f"is one too many; {len(first)} are wanted"))
            elif each is not True:
                value, faults = self._fit(each, value, (*path, index), depth + 1, is_lax)
                issues += faults
            found.append(value)
            if len(issues) >= _MOST_ISSUES:
                break
        if schema.get("uniqueItems") is True and not issues:
            seen = {json.dumps(value, sort_keys=True) for value in found}
            if len(seen) < len(found):
                issues.append((path, "must not hold anything twice"))
        return found, issues

    def _fit_object(self, schema, values, path, depth, is_lax):
        properties = schema.get("properties")
        properties = properties if type(properties) is dict else {}
        required = schema.get("required")
        required = [name for name in required if type(name) is str] if type(required) is list else []
        rest = schema.get("additionalProperties", True)
        issues = [
            ((*path, name), f"is missing; it must be {self._wanted(properties.get(name))}")
            for name in required if name not in values
        ]
        issues += [(path, reason) for reason in count_faults(schema, len(values), "Properties", "entries")]
        found = {}
        for name, value in values.items():
            where = (*path, name)
            if name not in properties and rest is False:
                issues.append((where, not_known(name, properties)))
            else:
                value, faults = self._fit(properties.get(name, rest), value, where, depth + 1, is_lax)
                if faults and value is None and name not in required and faults[0][0] == where:
                    faults = [(where, f"{faults[0][1]}; leave it out to get its default")]
                issues += faults
            found[name] = value
            if len(issues) >= _MOST_ISSUES:
                break
        return found, issues

    def _unfit(self, schema, value, path):
        return path, f"expected {self._wanted(schema)}, got {describe_actual(value)}"

    def _wanted(self, schema, depth=0):
        """Describes the values that the schema allows."""
        if type(schema) is not dict or depth > 5:
            return "something else"
        if type(schema.get("enum")) is list:
            shown = [cut_shown(json.dumps(each, ensure_ascii=False)) for each in schema["enum"][:_MOST_CHOICES]]
            shown += ["…"] if len(schema["enum"]) > _MOST_CHOICES else []
            return f"{'one of ' if len(shown) > 1 else ''}{', '.join(shown)}"
        if "const" in schema:
            return cut_shown(json.dumps(schema["const"], ensure_ascii=False))
        for name in ("anyOf", "oneOf", "allOf"):
            if type(schema.get(name)) is list:
                words = dict.fromkeys(self._wanted(each, depth + 1) for each in schema[name][:10])
                return (" and " if name == "allOf" else " or ").join(words) or "something else"
        if "$ref" in schema:
            return self._wanted(self._target(schema["$ref"]), depth + 1)
        kinds = schema.get("type")
        if type(kinds) is list:
            return " or ".join(_TYPE_WORDS.get(kind, str(kind)) for kind in kinds if type(kind) is str) or "something else"
        if kinds == "string" and str(schema.get("format")) in FORMAT_WORDS:
            return FORMAT_WORDS[schema["format"]]
        if kinds == "string" and schema.get("contentEncoding") == "base64":
            return "base64 text"
        return _TYPE_WORDS.get(kinds, "given") if type(kinds) is str else "given"
