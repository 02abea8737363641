"""Run with the path of a script: what its argparse parser really has, as JSON, instead of what the script does."""

import argparse
import enum
import json
import pathlib
import runpy
import sys


def describe(parser, words=()):
    """{words of the subcommand: {dest: action}}"""
    subparsers = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if subparsers:
        found, seen = {}, set()
        for word, inner in subparsers[0].choices.items():
            if id(inner) not in seen:  # an alias
                seen.add(id(inner))
                found.update(describe(inner, (*words, word)))
        return found
    return {" ".join(words): [describe_action(action) for action in parser._actions if action.help != argparse.SUPPRESS]}


def describe_action(action):
    return {
        "kind": type(action).__name__, "flags": list(action.option_strings), "dest": action.dest, "isRequired": action.required,
        "default": plain(action.default),
        "choices": None if action.choices is None else [plain(each) for each in action.choices], "nargs": action.nargs,
    }


def plain(value):
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, pathlib.PurePath):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else {"other": type(value).__name__}


def dump(parser, *_, **__):
    print(json.dumps(describe(parser)))
    sys.exit()


argparse.ArgumentParser.parse_args = dump
argparse.ArgumentParser.parse_known_args = dump
path = sys.argv[1]
sys.argv = [path]
runpy.run_path(path, run_name="__main__")
