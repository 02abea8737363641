"""The disk work of an environment, in a separate process so that no call of the server waits for it.

argv[2]: an order as JSON. stdout: the answer as JSON. No code of the environment runs here.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import stat
import sys
import tempfile

from ..jail import no_pip, shared_names
from . import bytecode_store


def main():
    order = json.loads(sys.argv[2])
    answer = _ORDERS[order.pop("do")](**order)
    json.dump(answer, sys.stdout)


def create(to, inherit):
    """Creates an empty virtual environment; with `inherit` it also sees the packages of the interpreter that creates it."""
    import venv

    venv.EnvBuilder(symlinks=os.name != "nt", with_pip=False).create(to)
    return show_interpreter(to, inherit)


def show_interpreter(venv, inherit):
    """Whether an environment sees the packages of its interpreter, which is the one that runs this."""
    parent = _parent_environment() if inherit else None
    lines = [line for line in _configuration(venv).splitlines() if not line.startswith("include-system-site-packages")]
    lines.append(f"include-system-site-packages = {str(inherit and parent is None).lower()}")
    _replace(os.path.join(venv, "pyvenv.cfg"), "".join(f"{line}\n" for line in lines).encode())
    link = os.path.join(_site_packages(venv), "_inherited.pth")
    with contextlib.suppress(FileNotFoundError):
        os.remove(link)
    if parent is not None:
        with open(link, "w", encoding="utf-8") as file:
            file.write(f"import site; site.addsitedir({_site_packages(parent)!r})\n")
    return {"parent": parent, "configuration": _configuration(venv)}


def _configuration(venv):
    with open(os.path.join(venv, "pyvenv.cfg"), encoding="utf-8") as file:
        return file.read()


def _parent_environment():
    """The virtual environment of this interpreter. The module site, which would know, is not loaded."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))
    return folder if os.path.exists(os.path.join(folder, "pyvenv.cfg")) else None


def link(source, to):
    """A copy that shares every file. Nobody changes a file in place: installers write new ones."""
    for folder, folders, files in os.walk(source):
        target = os.path.join(to, os.path.relpath(folder, source))
        os.makedirs(target, exist_ok=True)
        for name in [name for name in folders if os.path.islink(os.path.join(folder, name))]:
            shutil.copy2(os.path.join(folder, name), os.path.join(target, name), follow_symlinks=False)
        for name in files:
            _link_file(os.path.join(folder, name), os.path.join(target, name))
    return {"configuration": _configuration(source)}


def _link_file(source, target):
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        # Another file system, or too many links to the file: then a copy.
        shutil.copy2(source, target, follow_symlinks=False)


def finish(venv, configuration, will_be_at, store, uid):
    """Completes every change: checks, compiles and measures the environment, and gives its scripts their path."""
    _check_core(venv, configuration)
    _place_scripts(venv, will_be_at)
    site = _site_packages(venv)
    no_pip.write(os.path.join(venv, "bin"), site)
    shared_names.write(site)
    bytecode_store.fill(site, store, uid)
    return {**_measure(venv), "packages": _packages(site)}


def _check_core(venv, configuration):
    """Refuses files of a wheel that decide what starts outside the sandbox."""
    programs = [name for name in os.listdir(os.path.join(venv, "bin")) if name.startswith("python")]
    for name in {"python", *programs}:
        path = os.path.join(venv, "bin", name)
        if not os.path.islink(path) or os.path.realpath(path) != os.path.realpath(sys.executable):
            _refuse(f"A package would replace bin/{name} of the environment.")
    if _configuration(venv) != configuration:
        _refuse("A package would replace pyvenv.cfg of the environment.")
    if sorted(os.listdir(os.path.dirname(_site_packages(venv)))) != ["site-packages"]:
        _refuse("A package would put files next to the standard library.")


def _refuse(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(65)


def _place_scripts(venv, will_be_at):
    """Scripts name their interpreter by its full path, which is known only now."""
    folder = os.path.join(venv, "bin")
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not stat.S_ISREG(os.lstat(path).st_mode):
            continue
        with open(path, "rb") as file:
            text = file.read(_LARGEST_SCRIPT + 1)
        script = _SHEBANG.match(text) if len(text) <= _LARGEST_SCRIPT else None
        if script:
            _replace(path, f"#!{will_be_at}/bin/python\n".encode() + script["code"])


def _replace(path, content):
    """Writes a new file: the old one may be shared."""
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    fd, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(fd, "wb") as file:
        file.write(content)
    os.chmod(temporary, mode)
    os.replace(temporary, path)


def _measure(venv):
    size = shared = 0
    for folder, _, files in os.walk(venv):
        for name in files:
            about = os.lstat(os.path.join(folder, name))
            size += about.st_size
            shared += about.st_size if about.st_nlink > 1 else 0
    return {"bytes": size, "sharedBytes": shared}


def _packages(site):
    found = {}
    for fields in _distributions(site):
        # Without both fields it is not a distribution, but files that look like one.
        name, version = fields.get("name", [""])[0], fields.get("version", [""])[0]
        if name and version:
            found[name] = version
    return [{"name": name, "version": found[name]} for name in sorted(found, key=str.lower)]


def _distributions(site):
    """The metadata of each distribution, as field to values. No mail parser reads it: packages write it, and it may be anything."""
    for name in sorted(os.listdir(site)):
        for file in _METADATA.get(os.path.splitext(name)[1], ()):
            with contextlib.suppress(OSError):
                yield _fields(os.path.join(site, name, file))


def _fields(path):
    """The fields before the description, read up to a size that no honest file exceeds."""
    with open(path, "rb") as file:
        text = file.read(_LARGEST_METADATA).decode("utf-8", "replace")
    found = {}
    for line in text.partition("\n\n")[0].split("\n"):
        field, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            found.setdefault(field.lower(), []).append(value.strip())
    return found


def dependents(venv, names):
    """The packages that need one of these, by name."""
    wanted = {_key(name) for name in names}
    found = set()
    for fields in _distributions(_site_packages(venv)):
        needed = [line for line in fields.get("requires-dist", ()) if "extra ==" not in line and _NAME.match(line)]
        name = fields.get("name", [""])[0]
        if {_key(_NAME.match(line)[0]) for line in needed} & wanted and _key(name) not in wanted:
            found.add(name)
    return sorted(found)


def sweep(cache):
    """Removes the folders in which a killed uv was unpacking. Every uv at work holds the lock, so none is running then."""
    with contextlib.suppress(OSError), open(os.path.join(cache, ".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in os.listdir(cache):
            if name.startswith(".tmp"):
                shutil.rmtree(os.path.join(cache, name), ignore_errors=True)


def _key(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _site_packages(venv):
    (version,) = [name for name in os.listdir(os.path.join(venv, "lib")) if name.startswith("python")]
    return os.path.join(venv, "lib", version, "site-packages")


_METADATA = {".dist-info": ("METADATA",), ".egg-info": ("PKG-INFO",)}
_LARGEST_METADATA, _LARGEST_SCRIPT = 1 << 20, 16 << 20
# The first line of Python, or of the shell that starts Python if its path is too long for some kernels.
_SHEBANG = re.compile(rb"#!(?:[^\n]*python[^\n]*|/bin/sh\n'''exec' [^\n]*\n' ''')\n(?P<code>.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ORDERS = {"create": create, "show-interpreter": show_interpreter, "dependents": dependents, "link": link, "finish": finish, "sweep": sweep}
