"""Bytecode, compiled once for each source text and shared by every environment that has it.

Environments are read-only to runs, so what is not compiled when it is installed would be compiled by every run anew. A file
of the store is named by the hash of its source: a package cannot put its own bytecode under the name of another's source.
"""

import hashlib
import importlib._bootstrap_external
import importlib.util
import os
import sys
import tempfile
import warnings

_MAGIC = hashlib.sha256(importlib.util.MAGIC_NUMBER).hexdigest()[:8]


def fill(site, store):
    """Gives every module below a folder its bytecode. What cannot be compiled is left for the import to complain about."""
    folder = os.path.join(store, f"{sys.implementation.cache_tag}-{_MAGIC}")
    os.makedirs(folder, exist_ok=True)
    missing = [path for path in _sources(site) if not os.path.lexists(importlib.util.cache_from_source(path))]
    _share_out(missing, lambda path: _provide(path, folder))


def _sources(site):
    for folder, folders, files in os.walk(site):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        yield from (os.path.join(folder, name) for name in files if name.endswith(".py"))


def _share_out(paths, do):
    """One process for each processor: compiling is all that this costs."""
    shares = max(1, min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, len(paths) // 50))
    children = []
    for index in range(1, shares):
        child = os.fork()
        if child == 0:
            try:
                _do_all(paths[index::shares], do)
            finally:
                os._exit(0)
        children.append(child)
    _do_all(paths[0::shares], do)
    for child in children:
        os.waitpid(child, 0)


def _do_all(paths, do):
    warnings.simplefilter("ignore")
    for path in paths:
        try:
            do(path)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            pass


def _provide(path, folder):
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(fd, "rb") as file:
        source = file.read()
    name = hashlib.sha256(source).hexdigest()
    shared = os.path.join(folder, name[:2], f"{name}.pyc")
    if not os.path.exists(shared):
        _compile(source, shared)
    target = importlib.util.cache_from_source(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        os.link(shared, target)
    except OSError:
        # Too many links to one file (every empty __init__.py is the same), or another file system.
        with open(shared, "rb") as original:
            _write(target, original.read())


def _compile(source, target):
    """The path in it is nobody's, since it is shared: an import puts its own in place."""
    code = compile(source, "<shared>", "exec", dont_inherit=True)
    # Unchecked: the source of a generation never changes, and looking at it would cost every import.
    data = importlib._bootstrap_external._code_to_hash_pyc(code, importlib.util.source_hash(source), False)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    _write(target, data)


def _write(target, data):
    fd, temporary = tempfile.mkstemp(dir=os.path.dirname(target))
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    os.chmod(temporary, 0o644)
    os.replace(temporary, target)
