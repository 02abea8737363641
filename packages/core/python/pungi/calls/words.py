"""Formats problems of arguments: the path, the actual value, the known names."""

import json

_LONGEST_SHOWN = 60
_LONGEST_PATH = 200
_MOST_LISTED = 20


def format_issue(path, reason):
    where = ".".join(str(part) for part in path)
    return f"{cut_shown(where, _LONGEST_PATH)}: {reason}" if where else reason


def cut_shown(text, longest=_LONGEST_SHOWN):
    return text if len(text) <= longest else f"{text[:longest]}…"


def describe_actual(value):
    if type(value) is str:
        return f"the text {json.dumps(cut_shown(value), ensure_ascii=False)}"
    if type(value) is list:
        return f"a list of {len(value)}" if value else "an empty list"
    if type(value) is dict:
        return f"an object with {cut_shown(', '.join(map(str, list(value)[:5])))}" if value else "an empty object"
    if value is None or type(value) in (bool, int, float):
        try:
            return cut_shown(json.dumps(value))
        except ValueError:  # more digits than Python converts
            return "a huge number"
    return f"an object of the type {type(value).__name__}"


def not_known(name, known):
    """Explains why a name is refused, and suggests a similar one."""
    import difflib

    known = [each for each in known if type(each) is str]
    similar = difflib.get_close_matches(cut_shown(str(name)), known[:200], 1)
    if similar:
        return f'is not known; do you mean "{similar[0]}"?'
    listed = ", ".join(known[:_MOST_LISTED]) + (", …" if len(known) > _MOST_LISTED else "")
    return f"is not known; there {'is' if len(known) == 1 else 'are'} {listed}" if known else "is not known; there are none"
