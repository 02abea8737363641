"""The settings: WRAPPER_* variables, read once and checked."""

import os
import sys


class Settings:
    """The values of the variables, under their names without WRAPPER_ and in lower case."""


class SettingFault(Exception):
    """An invalid variable: its name, its value, and the allowed values."""


def read_settings(environ, folder):
    """Raises SettingFault with a sentence for each invalid variable."""
    settings, faults = Settings(), []
    for name, default, read, _ in SETTINGS:
        text = environ.get(name, "")
        try:
            value = read(text, folder) if text else default
        except ValueError as allowed:
            faults.append(f"{name} is {text!r}; allowed is {allowed}.")
            continue
        setattr(settings, name.removeprefix("WRAPPER_").lower(), value)
    if faults:
        raise SettingFault("\n".join(faults))
    settings.working_dir = settings.working_dir or folder
    settings.python_executable = settings.python_executable or sys.executable
    return settings


def _read_between(kind, least, most):
    def read(text, folder):
        words = "a whole number" if kind is int else "a number"
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise ValueError(f"{words} from {least} to {most}")
        return value

    return read


def _read_switch(text, folder):
    values = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if text.lower() not in values:
        raise ValueError('"true" or "false"')
    return values[text.lower()]


def _read_program(text, folder):
    import shutil

    # A relative path is relative to the folder of the wrapper: clients start it anywhere.
    path = os.path.join(folder, text) if os.path.dirname(text) else text
    found = shutil.which(path)
    if found is None:
        raise ValueError("a Python interpreter: a name on PATH, or a path")
    return found


def _read_folder(text, folder):
    path = os.path.join(folder, os.path.expanduser(text))
    if not os.path.isdir(path):
        raise ValueError("a folder that exists")
    return path


def _read_log_path(text, folder):
    path = os.path.join(folder, os.path.expanduser(text))
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise ValueError("a file in a folder that exists")
    return path


# Name, default, parser, and description, for --help.
SETTINGS = (
    ("WRAPPER_MAX_EXECUTION_TIME", 300.0, _read_between(float, 0.01, 604800), "seconds that a call may take"),
    ("WRAPPER_MAX_MEMORY_MB", 512, _read_between(int, 16, 1048576), "memory of a call's process, in MiB"),
    ("WRAPPER_MAX_OUTPUT_LINES", 10000, _read_between(int, 0, 10000000), "printed lines that are kept; the rest is left out"),
    ("WRAPPER_MAX_CONCURRENT", 8, _read_between(int, 1, 256), "calls at once; others wait, in their order"),
    ("WRAPPER_PYTHON_EXECUTABLE", None, _read_program, "the Python that runs the script (default: the wrapper's own)"),
    ("WRAPPER_WORKING_DIR", None, _read_folder, "the folder that the script runs in (default: the wrapper's)"),
    ("WRAPPER_STREAM_BUFFER", 1024, _read_between(int, 1, 1048576), "characters of a streamed line; longer ones come in parts"),
    ("WRAPPER_STREAM_FLUSH", 0.1, _read_between(float, 0.01, 3600), "seconds after which an unfinished line is streamed"),
    ("WRAPPER_ALLOW_NETWORK", True, _read_switch, "false: a fence keeps the script from the network"),
    ("WRAPPER_ALLOW_FILE_WRITE", True, _read_switch, "false: a fence keeps the script from writing files"),
    ("WRAPPER_LOG_FILE", None, _read_log_path, "the file that the log is added to (default: standard error)"),
)
