"""System call filters: an allow-list for runs, and refusals while packages load."""

import ctypes
import errno
import functools

from . import bpf, landlock, system
from .call_arguments import (
    ARGUMENTS, INTERNET, PAIRS_THAT_STAY, PRETEND, ROUTES, SET_DUMPABLE, SET_INTERFACE_FLAGS, SET_SUBREAPER, SOCK_DIAG,
    SUPERVISOR_NAMESPACES, UNIX, Only, clone, ioctl, no_truncation, open_to_owner, pair_rules, prctl, prctl_that_stays,
    prctl_to_dumpable, not_to, socket_rules,
)
from .system_calls import ALLOWED, ARCHITECTURES, ATTRIBUTES, NUMBERS, REFUSED

_SET_MODE_FILTER, _NO_FLAGS, _NEW_LISTENER = 1, 0, 8
# SECCOMP_IOCTL_NOTIF_RECV, _SEND and _ID_VALID, by which a supervisor answers.
GATE_REQUESTS = (0xC0502100, 0xC0182101, 0x40082102)

# Landlock bounds neither attributes nor locks nor sockets: without namespaces they would reach the host.
_WITHOUT_NAMESPACES = {
    # Runs ask their supervisors (file_gate.py). Packages have nobody to ask: for them the calls do not exist.
    **{name: bpf.ASK for name in ATTRIBUTES},
    **{name: errno.EACCES for name in ("socket", "bind", "connect", "listen", "accept", "accept4")},
    "socketpair": pair_rules(PAIRS_THAT_STAY),
    # Descriptors parked inside a socket, where the size of their files is not visible.
    "sendmsg": errno.EACCES,
    # Gigabytes between two walks of the folder. On this error libc writes instead.
    "fallocate": errno.EOPNOTSUPP,
    # No run makes a folder that its owner cannot enter: emptying it would take a chmod, which is refused to all.
    "mkdir": open_to_owner(1),
    "mkdirat": open_to_owner(2),
    "umask": (Only(0, (0,), mask=0o700, error=PRETEND),),
}
# Calls that landlock bounds in later versions. A path is truncated without being opened for writing.
_BEFORE_TRUNCATION_RULES = {"truncate": errno.EACCES, "open": no_truncation(1), "openat": no_truncation(2)}
# Other signals go through signal_gate.py.
_BEFORE_SIGNAL_RULES = {"pidfd_send_signal": errno.EPERM}
# A filter sees no address. In a folder of the host a program may begin to listen at any time, so a run that sees one makes no
# unix socket at all: pairs stay, multiprocessing's managers and its forkserver do not.
_WITH_DATA = {"socket": socket_rules(INTERNET), "socketpair": pair_rules(PAIRS_THAT_STAY)}
# For the memory that the sockets of its runs hold.
_SOCKETS_OF_SUPERVISORS = {
    has_data: {"socket": socket_rules(INTERNET if has_data else (UNIX, *INTERNET), (ROUTES, SOCK_DIAG))} for has_data in (True, False)
}
# A worker in its last steps before the run. The last filter ends it.
_BEFORE_RUNS = {
    "seccomp": (Only(0, (_SET_MODE_FILTER,)), Only(1, (_NO_FLAGS,))),
    "landlock_restrict_self": (),
    "capset": (),
    "prctl": prctl(SET_DUMPABLE),
}
_LAST = {
    **{name: errno.EPERM for name in ("seccomp", "landlock_restrict_self", "capset", "pidfd_getfd")},
    # A process that is not dumpable hides its memory and files from the supervisor.
    "prctl": prctl(),
}
# If no supervisor answers a run: success that changes nothing. Copying a file would otherwise fail at its last step.
_PRETENDED = {
    **{name: PRETEND for name in ATTRIBUTES},
    # Setting the time of a path to now tests whether a file exists: a program that is refused creates the file.
    "utimensat": (Only(2, (0,), error=PRETEND), Only(1, (), answers={0: PRETEND})),
}
# A supervisor, which is forked from the fork server, builds the jail of the runs.
_IN_FORK_SERVER = {
    **_BEFORE_RUNS,
    "landlock_create_ruleset": (),
    "landlock_add_rule": (),
    "prctl": prctl_that_stays(SET_DUMPABLE, SET_SUBREAPER),
}
_WITH_NAMESPACES_IN_FORK_SERVER = {
    "clone": clone(SUPERVISOR_NAMESPACES | system.CLONE_PARENT),
    "mount": (),
    "umount2": (),
    # To bring up the loopback.
    "ioctl": ioctl(SET_INTERFACE_FLAGS, *GATE_REQUESTS),
}
_GATES = {
    "seccomp": (Only(0, (_SET_MODE_FILTER,)), Only(1, (_NO_FLAGS, _NEW_LISTENER))),
    "ioctl": ioctl(*GATE_REQUESTS),
    "pidfd_getfd": (),
}
# A worker asks for locks, and its supervisor takes the file to lock it (file_gate.py).
_WITH_LOCKS = {**_GATES, "flock": ()}


def _answers(has_namespaces, has_data):
    """Name of a call to an errno, or to the rules for its arguments."""
    answers = {name: ARGUMENTS.get(name, ()) for calls in ALLOWED.values() for name in calls}
    answers |= {name: error for error, calls in REFUSED.values() for name in calls}
    answers |= _WITH_DATA if has_data else {}
    if has_namespaces:
        # Of the template, which forks workers for their supervisor.
        return answers | {"clone": clone(system.CLONE_PARENT)}
    return answers | _WITHOUT_NAMESPACES | (_BEFORE_TRUNCATION_RULES if landlock.abi() < landlock.RULES_TRUNCATION else {})


def _needs_signal_gate():
    return landlock.abi() < landlock.RULES_SIGNALS


def _compile(machine, answers, otherwise):
    column = ARCHITECTURES.index(machine)
    numbered = {NUMBERS[name][column]: answer for name, answer in answers.items() if NUMBERS[name][column] is not None}
    return bpf.compile_filter(machine, numbered, otherwise)


@functools.cache
def _build(machine, has_namespaces, has_data, has_flock=False, has_gate=False):
    answers = _answers(has_namespaces, has_data) | _BEFORE_RUNS | (_WITH_LOCKS if has_flock else _GATES if has_gate else {})
    if not has_namespaces and _needs_signal_gate():
        answers |= _BEFORE_SIGNAL_RULES
    return _compile(machine, answers, errno.ENOSYS)


@functools.cache
def _build_last(machine, has_flock, pretends_attributes=False, template=None):
    answers = _LAST | ({} if has_flock else {"flock": errno.ENOSYS}) | (_PRETENDED if pretends_attributes else {})
    if template is not None:
        answers |= not_to(template) | {"prctl": prctl_to_dumpable()}
    return _compile(machine, answers, bpf.ALLOW)


@functools.cache
def _build_file_gate(machine, asks_attributes):
    names = ("flock", *(ATTRIBUTES if asks_attributes else ()))
    return _compile(machine, {name: bpf.ASK for name in names}, bpf.ALLOW)


@functools.cache
def _build_for_fork_server(machine, has_namespaces, has_data):
    # Supervisors lock files for their runs. Packages can lock what they can read, but no data.
    more = _WITH_LOCKS if not has_data else {} if has_namespaces else _GATES
    if has_namespaces:
        more = more | _WITH_NAMESPACES_IN_FORK_SERVER | _SOCKETS_OF_SUPERVISORS[has_data]
    return _compile(machine, _answers(has_namespaces, has_data) | _IN_FORK_SERVER | more, errno.ENOSYS)


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def is_supported():
    return system.IS_LINUX and system.MACHINE in ARCHITECTURES


def prepare(has_namespaces, has_data):
    """Builds the filters before the forks, which then share them."""
    if is_supported():
        _build(system.MACHINE, has_namespaces, has_data, not has_data, not has_namespaces)
        _build_last(system.MACHINE, has_flock=not has_data)
        _build_file_gate(system.MACHINE, asks_attributes=not has_namespaces)


def install(has_namespaces, has_data=False, has_flock=False, has_gate=False):
    """Puts the filter on this process and on all that it will start; needs no_new_privs.

    `has_data`: folders of the host are shown to it. `has_flock`: it may lock files, as uv does in its cache; a worker, if its
    supervisor lets it (file_gate.py). `has_gate`: it may still put a filter on itself that asks its supervisor."""
    _install(*_build(system.MACHINE, has_namespaces, has_data, has_flock, has_gate))


def install_last(has_flock, pretends_attributes=False, template=None):
    """Ends what a worker may do before its run: it adds no filter and no rules, and stays readable to its supervisor.

    `pretends_attributes`: calls that change modes, times and attributes succeed without effect. `template`: this process, if it is the
    template of workers, which inherit the filter and cannot signal it."""
    _install(*_build_last(system.MACHINE, has_flock, pretends_attributes, template))


def install_for_fork_server(has_namespaces, has_data=False):
    """Puts a filter on the fork server before it loads packages; needs no_new_privs. It cannot be lifted, and supervisors and
    workers inherit it below their own.

    It is the filter of runs, and also allows what a supervisor does after its fork: landlock, seccomp, and in the namespace
    tier a clone into its own namespaces and mounts there, which it therefore does not keep from packages."""
    _install(*_build_for_fork_server(system.MACHINE, has_namespaces, has_data))


def install_signal_gate():
    """Puts a filter on this process and on all that it will start that asks about every signal; returns the descriptor of
    the questions."""
    return _install(*_compile(system.MACHINE, {name: bpf.ASK for name in ("kill", "tkill", "tgkill")}, bpf.ALLOW), _NEW_LISTENER)


def install_file_gate(asks_attributes):
    """The same about every flock, and about calls that change modes, owners, times and attributes of files."""
    return _install(*_build_file_gate(system.MACHINE, asks_attributes), _NEW_LISTENER)


@functools.cache
def name_of(number):
    """The name of a system call."""
    column = ARCHITECTURES.index(system.MACHINE)
    return next(name for name, numbers in NUMBERS.items() if numbers[column] == number)


def _install(code, length, flags=_NO_FLAGS):
    program = _FilterProgram(length, code)
    number = NUMBERS["seccomp"][ARCHITECTURES.index(system.MACHINE)]
    return system.check(system.syscall(number, _SET_MODE_FILTER, flags, ctypes.byref(program)), "seccomp")
