"""Bytecode, compiled once for each source text and shared by every environment that has it.

Environments are read-only to runs, so every run would compile anew what the installation did not compile. A file of the store
is named by the hash of its source: a package cannot put its own bytecode under the name of another's source.
"""

import hashlib
import importlib.util
import os
import sys
import tempfile

from . import compiler

_MAGIC = hashlib.sha256(importlib.util.MAGIC_NUMBER).hexdigest()[:8]
# Based on a hash, and never checked: the source of a generation never changes, and reading it would cost every import.
_UNCHECKED_HASH = (1).to_bytes(4, "little")
# Honest packages have no source that the compiler cannot handle. After this many, imports compile the rest.
_MOST_OVERRUNS = 3


def fill(site, store, uid):
    """Gives every module below a folder its bytecode. Sources that do not compile are left for the import to report.

    `uid`: the user that compiles, if this process is root."""
    folder = os.path.join(store, f"{sys.implementation.cache_tag}-{_MAGIC}")
    os.makedirs(folder, exist_ok=True)
    missing = [path for path in _sources(site) if not os.path.lexists(importlib.util.cache_from_source(path))]
    _share_out(missing, lambda paths: _provide_all(paths, site, folder, uid))


def _sources(site):
    for folder, folders, files in os.walk(site):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        yield from (os.path.join(folder, name) for name in files if name.endswith(".py"))


def _share_out(paths, do):
    """Starts one process for each processor: compiling dominates the cost."""
    shares = max(1, min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, len(paths) // 50))
    children = []
    for index in range(1, shares):
        child = os.fork()
        if child == 0:
            try:
                do(paths[index::shares])
            finally:
                os._exit(0)
        children.append(child)
    do(paths[0::shares])
    for child in children:
        os.waitpid(child, 0)


def _provide_all(paths, site, folder, uid):
    """Compiles one package with one compiler: a source that breaks it must not write bytecode for the sources of others."""
    own, serves = compiler.Compiler(uid), None
    for path in paths:
        package = os.path.relpath(path, site).split(os.sep)[0]
        if package != serves:
            own.close()
            serves = package
        if own.overruns > _MOST_OVERRUNS:
            break
        try:
            _provide(path, folder, own)
        except OSError:
            pass
    own.close()


def _provide(path, folder, own):
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(fd, "rb") as file:
        source = file.read(compiler.LARGEST_SOURCE + 1)
    name = hashlib.sha256(source).hexdigest()
    shared = os.path.join(folder, name[:2], f"{name}.pyc")
    if not os.path.exists(shared):
        code = own.compile(source)
        if code is None:
            return
        os.makedirs(os.path.dirname(shared), exist_ok=True)
        _write(shared, importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + importlib.util.source_hash(source) + code)
    target = importlib.util.cache_from_source(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        os.link(shared, target)
    except OSError:
        # Too many links to one file (every empty __init__.py is the same), or another file system.
        with open(shared, "rb") as original:
            _write(target, original.read())


def _write(target, data):
    fd, temporary = tempfile.mkstemp(dir=os.path.dirname(target))
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    os.chmod(temporary, 0o644)
    os.replace(temporary, target)
