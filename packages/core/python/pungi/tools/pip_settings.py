"""Prints, as JSON, where the user's pip gets packages from: its configuration files and variables, in pip's own order."""

import configparser
import json
import os
import sys

# Sections that `pip install` reads; a later one overrides an earlier one.
_SECTIONS = ("global", "install")
_TRUE = ("y", "yes", "t", "true", "on", "1")


def main():
    try:
        settings = read(os.environ)
    except (configparser.Error, UnicodeDecodeError, ValueError) as error:
        sys.exit(" ".join(str(error).split()))
    json.dump(settings, sys.stdout)


def read(env):
    found = _from_files(env) | _from_variables(env)
    words = {key: value.split() for key, value in found.items()}
    return {
        "indexUrl": found.get("index-url"),
        "extraIndexUrls": words.get("extra-index-url", []),
        "findLinks": [place for place in map(_place, words.get("find-links", [])) if place],
        "noIndex": _is_true(found.get("no-index")),
        "trustedHosts": words.get("trusted-host", []),
        "cert": _path(found.get("cert")),
        "clientCert": _path(found.get("client-cert")),
        "proxy": found.get("proxy"),
        "timeout": _number(found, "timeout", "default-timeout"),
        "retries": _number(found, "retries"),
        "constraints": words.get("constraint", []),
        "pre": _is_true(found.get("pre")),
        "keyringProvider": found.get("keyring-provider"),
    }


def _from_files(env):
    sections = {name: {} for name in _SECTIONS}
    for path in _files(env):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8-sig")
        except OSError:
            continue
        for name in _SECTIONS:
            if parser.has_section(name):
                sections[name].update((_key(key), value) for key, value in parser.items(name) if value)
    merged = {}
    for name in _SECTIONS:
        merged.update(sections[name])
    return merged


def _from_variables(env):
    return {_key(name[4:]): value for name, value in env.items() if name.startswith("PIP_") and value}


def _files(env):
    """The files for all users, for this user, for this interpreter, and the one that a variable names."""
    named = env.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    folders = env.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    if sys.platform == "darwin":
        yield "/Library/Application Support/pip/pip.conf"
    else:
        yield from (os.path.join(folder, "pip", "pip.conf") for folder in folders.split(os.pathsep))
        yield "/etc/pip.conf"
    if not (named and os.path.exists(named)):
        home = os.path.expanduser("~")
        yield os.path.join(home, ".pip", "pip.conf")
        yield os.path.join(_user_folder(env, home), "pip.conf")
    yield os.path.join(_prefix(), "pip.conf")
    if named:
        yield named


def _user_folder(env, home):
    if sys.platform == "darwin":
        folder = os.path.join(home, "Library", "Application Support", "pip")
        if os.path.isdir(folder):
            return folder
        return os.path.join(home, ".config", "pip")
    return os.path.join(env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip")


def _prefix():
    """The folder of the virtual environment, if the interpreter belongs to one. The module site, which would know, is not loaded."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))
    return folder if os.path.exists(os.path.join(folder, "pyvenv.cfg")) else sys.prefix


def _key(name):
    return name.lower().replace("_", "-").removeprefix("--")


def _is_true(value):
    return value is not None and value.lower() in _TRUE


def _number(found, *keys):
    value = next((found[key] for key in keys if key in found), None)
    return None if value is None else float(value)


def _path(value):
    return None if value is None else os.path.abspath(os.path.expanduser(value))


def _place(text):
    """The place, or None for a folder that does not exist: pip only warns of it."""
    if "://" in text and not text.startswith("file:"):
        return text
    folder = os.path.abspath(os.path.expanduser(_local_path(text)))
    return folder if os.path.isdir(folder) else None


def _local_path(text):
    if not text.startswith("file:"):
        return text
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return url2pathname(urlsplit(text).path)


if __name__ == "__main__":
    main()
