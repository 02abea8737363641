import json as _json
import os
import pickle
import subprocess
import textwrap  # noqa: F401


def read(path):
    with open(path) as file:
        return file.read()


def store(path, text):
    with open(os.path.join(os.getcwd(), path), "w") as file:
        file.write(text)
    return _json.dumps(os.path.getsize(path))


def call(function, *arguments):
    return function(*arguments)


def evaluate(text, **names):
    return eval(text, names)


def load(data):
    return pickle.loads(data)


def run(command):
    return subprocess.run(command, check=False).returncode
