"""The words of a command line that express a tool's arguments. packages/wrap/src/call/wrapped-call.ts does the same."""

import json

_MOST_TIMES = 1000


def command_words(tool, arguments):
    """The subcommand, with the options of commands above it before its words, its own options, then positional arguments."""
    given = [rule for rule in tool["argv"] if arguments.get(rule["parameter"]) is not None]
    options = [rule for rule in given if rule["flag"] is not None]
    positional = [
        _word_of(value)
        for rule in given
        if rule["flag"] is None
        for value in _listed(arguments[rule["parameter"]])
    ]
    words, last = [], len(tool["command"])
    for place, word in enumerate([*tool["command"], None]):
        for rule in options:
            if min(rule.get("before", last), last) == place:
                words += _option_words(rule, arguments[rule["parameter"]])
        words += [] if word is None else [word]
    # Without a known parser the meaning of "--" is unknown.
    if tool["parser"] is None:
        return words + positional
    # An option that takes many would take these words as well, and one that begins with "-" would be an option.
    is_open = any(rule["takes"] == "many" for rule in options) or any(word.startswith("-") for word in positional)
    return words + (["--"] if is_open and positional else []) + positional


def _option_words(rule, value):
    flag, takes = rule["flag"], rule["takes"]
    if takes == "nothing":
        return [flag] if value is True else [rule["whenFalse"]] if rule.get("whenFalse") is not None else []
    if takes == "count":
        return [flag] * int(max(0, min(value, _MOST_TIMES))) if isinstance(value, (int, float)) else []
    words = [_word_of(each) for each in _listed(value)]
    if takes == "many":
        return [flag, *words] if words else []
    if takes == "one":
        words = [_word_of(value)]
    return [part for word in words for part in _flag_words(flag, word)]


def _flag_words(flag, word):
    """Keeps a value that begins with "-" from being an option: after "=", or, if the flag is one letter, joined to it."""
    if len(flag) != 2 or not flag.startswith("-") or flag == "--":
        return [f"{flag}={word}"]
    return [flag + word] if word.startswith("-") else [flag, word]


def _listed(value):
    return value if isinstance(value, list) else [value]


def _word_of(value):
    """Text as it is; everything else as JSON, whole numbers without a point."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
