"""Landlock: file, network and scope rules that a process puts on itself and that no child can lift."""

import ctypes
import functools
import os
import stat

from . import system

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_TRUNCATE, _REFER, _IOCTL_DEV = 1 << 14, 1 << 13, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_MAKE_DEVICES = (1 << 6) | (1 << 11)

READ = _EXECUTE | READ_FILE | READ_DIR
# Nothing in it can be executed.
DATA = READ_FILE | READ_DIR
# Everything but device nodes.
WRITE = 0xFFFF & ~_MAKE_DEVICES & ~_IOCTL_DEV
# The filter limits the requests; without the right to make any, a device does not even answer that it is not a terminal.
READ_DEVICE = READ_FILE | _IOCTL_DEV
DEVICE = READ_DEVICE | _WRITE_FILE | _TRUNCATE
TERMINAL = DEVICE | READ_DIR

# The landlock versions that introduced rules for these.
RULES_TRUNCATION, RULES_SIGNALS = 3, 6

_NET_TCP = 0b11
_SCOPE_ABSTRACT_UNIX, _SCOPE_SIGNAL = 1, 2


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("fd", ctypes.c_int32)]


@functools.cache
def abi():
    """The kernel's landlock version; 0 if there is none."""
    return max(0, system.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)) if system.IS_LINUX else 0


def _handled(version):
    rights = (1 << 13) - 1
    for since, right in ((2, _REFER), (RULES_TRUNCATION, _TRUNCATE), (5, _IOCTL_DEV)):
        if version >= since:
            rights |= right
    return rights


def restrict(rules):
    """Allows what `rules` names, (path, rights) pairs, and nothing else. A path that does not exist is skipped."""
    ruleset = make_ruleset(rules)
    try:
        enter(ruleset)
    finally:
        os.close(ruleset)


def make_ruleset(rules, rules_network=True):
    """The rules as an open file, which many processes can enter one after the other.

    `rules_network`: no TCP; False for processes in their own network namespace."""
    version = abi()
    if version == 0:
        raise OSError("landlock is not available in this kernel")
    handled = _handled(version)
    attributes = _Ruleset(
        handled,
        _NET_TCP if version >= 4 and rules_network else 0,
        _SCOPE_ABSTRACT_UNIX | _SCOPE_SIGNAL if version >= RULES_SIGNALS else 0,
    )
    size = 24 if version >= RULES_SIGNALS else 16 if version >= 4 else 8
    ruleset = system.check(
        system.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0), "landlock ruleset"
    )
    try:
        for path, rights in rules:
            _allow(ruleset, path, rights & handled)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def enter(ruleset):
    system.check(system.syscall(_RESTRICT_SELF, ruleset, 0), "landlock restrict")


def _allow(ruleset, path, rights):
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if rights & ~_FILE_RIGHTS and not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE_RIGHTS
        rule = ctypes.byref(_PathBeneath(rights, fd))
        system.check(system.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0), "landlock rule")
    finally:
        os.close(fd)
