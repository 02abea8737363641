"""The arguments that allowed system calls may have. A filter sees numbers, not the memory behind a pointer."""

import errno
import socket
from typing import NamedTuple

from . import system


class Only(NamedTuple):
    """One argument, masked, must be one of the values; `answers` are errors for single other values, `error` for the rest."""

    argument: int
    values: tuple
    mask: int = 0xFFFFFFFF
    error: int = errno.EPERM
    answers: dict = {}


class Unless(NamedTuple):
    """One argument must be none of the values."""

    argument: int
    values: tuple
    error: int = errno.EPERM


class Either(NamedTuple):
    """The rules for the other arguments, by the value of one; other values are refused."""

    argument: int
    rules: dict
    error: int = errno.EPERM


PRETEND = 0

_NO_FLAGS = (0,)
_MORE = 0x8000
# The exit signal, what is shared with the child, and the address of its number. No namespace, no other parent: in a pid namespace of
# their own, runs may give a child to their supervisor, as a double fork does.
_CLONE_FLAGS = 0x017D5F7F
_FILES, _THREAD = 0x400, 0x10000
SUPERVISOR_NAMESPACES = (
    system.CLONE_NEWUSER | system.CLONE_NEWPID | system.CLONE_NEWNS | system.CLONE_NEWIPC | system.CLONE_NEWNET
)
_SHARED, _PRIVATE, _SHARED_VALIDATE, _ANONYMOUS, _HUGE_TLB = 1, 2, 3, 0x20, 0x40000
_STREAM, _DATAGRAM, _PACKETS = int(socket.SOCK_STREAM), int(socket.SOCK_DGRAM), int(socket.SOCK_SEQPACKET)
UNIX, INTERNET = int(socket.AF_UNIX), (int(socket.AF_INET), int(socket.AF_INET6))
_SOCKET_TYPE = 0xF
_NETLINK, ROUTES, SOCK_DIAG = 16, 0, 4
SET_PARENT_DEATH, SET_DUMPABLE, SET_SUBREAPER = 1, 4, 36


def clone(more=0):
    """`more`: further flags that are allowed.

    A thread shares the descriptors of its process: /proc would not show separate ones to the supervisor, which counts them."""
    unknown = ~(_CLONE_FLAGS | more) & 0xFFFFFFFF
    return (Only(0, (0, _FILES, _FILES | _THREAD), mask=unknown | _FILES | _THREAD),)


def socket_rules(families, netlink=(ROUTES,)):
    """`netlink`: the allowed protocols. Programs read interfaces and addresses by one; changing them takes a capability."""
    protocols = Only(2, (0, int(socket.IPPROTO_TCP), int(socket.IPPROTO_UDP)), error=errno.EACCES)
    rules = {family: (_kinds_of(family), protocols) for family in families}
    return (Either(0, rules | {_NETLINK: (Only(2, tuple(netlink), error=errno.EACCES),)}, error=errno.EACCES),)


def _kinds_of(family):
    """Sequential packets are SCTP on the internet, also with a protocol of 0, if the host has loaded it."""
    kinds = (_STREAM, _DATAGRAM, _PACKETS) if family == UNIX else (_STREAM, _DATAGRAM)
    return Only(1, kinds, mask=_SOCKET_TYPE, error=errno.EACCES)


def pair_rules(kinds):
    return (Only(0, (UNIX,), error=errno.EACCES), Only(1, kinds, mask=_SOCKET_TYPE, error=errno.EACCES))


# An end of a pair of datagram sockets can send to any other socket that has a name.
ANY_PAIRS, PAIRS_THAT_STAY = (_STREAM, _DATAGRAM, _PACKETS), (_STREAM, _PACKETS)


def no_gathering(flags):
    """A datagram that is gathered from single bytes keeps a page for each of them. `flags`: the argument that has them."""
    return (Only(flags, _NO_FLAGS, mask=_MORE, error=errno.EOPNOTSUPP),)


def prctl(*more):
    """Parent-death signal, dumpable (asked for), name, seccomp (asked for), bounding set, no_new_privs, vector lengths."""
    return (Only(0, (15, 16, 1, 2, 3, 21, 23, 38, 39, 51, 64, *more)),)


def prctl_to_dumpable():
    """The same, and the step to dumpable: a worker is forked by a process that is not. None can go back."""
    ((argument, values, *_),) = prctl()
    return (Either(argument, dict.fromkeys(values, ()) | {SET_DUMPABLE: (Only(1, (1,)),)}),)


def not_to(pid):
    """Allows signals to every process but this one, and to every group but the one that it would lead."""
    return {
        "kill": (Unless(0, (pid, -pid & 0xFFFFFFFF)),), "tkill": (Unless(0, (pid,)),), "tgkill": (Unless(0, (pid,)), Unless(1, (pid,))),
        "pidfd_open": (Unless(0, (pid,)),),
    }


def prctl_that_stays(*more):
    """The same, but a process that dies with its parent cannot choose to outlive it. Libraries that ask for more go on."""
    ((argument, values, *_),) = prctl(*more)
    return (Only(argument, tuple(value for value in values if value != SET_PARENT_DEATH), answers={SET_PARENT_DEATH: PRETEND}),)


def open_to_owner(argument):
    """A mode that gives the owner access."""
    return (Only(argument, (0o700,), mask=0o700),)


def no_truncation(flags):
    """Opening for reading alone does not also truncate the file. `flags`: the argument that has them."""
    truncating = 0o1000
    return (Only(flags, (0, 1, 2, 3, 1 | truncating, 2 | truncating), mask=3 | truncating, error=errno.EACCES),)


_KINDS_OF_NODES = (0, 0o100000, 0o010000, 0o140000)
_KIND = 0o170000
# A lease or a notification makes other processes wait or costs them; the size of a pipe is memory.
_FCNTL = {
    "F_GETFD": 1, "F_SETFD": 2, "F_DUPFD_CLOEXEC": 1030, "F_GETFL": 3, "F_SETFL": 4, "F_DUPFD": 0, "F_GETLK": 5, "F_SETLK": 6,
    "F_SETLKW": 7, "F_GETOWN": 9, "F_GETPIPE_SZ": 1032,
}
_TERMINAL = {
    "TCGETS": 0x5401, "TCSETS": 0x5402, "TCSETSW": 0x5403, "TCSETSF": 0x5404, "TCSBRK": 0x5409, "TCFLSH": 0x540B,
    "TIOCSCTTY": 0x540E, "TIOCGPGRP": 0x540F, "TIOCSPGRP": 0x5410, "TIOCGWINSZ": 0x5413, "TIOCSWINSZ": 0x5414,
    "TIOCNOTTY": 0x5422, "TIOCGSID": 0x5429, "TCGETS2": 0x802C542A, "TIOCGPTN": 0x80045430, "TIOCSPTLCK": 0x40045431,
    "TIOCGPTPEER": 0x5441,
}
_DESCRIPTOR = {"FIOCLEX": 0x5451, "FIONCLEX": 0x5450, "FIONBIO": 0x5421, "FIONREAD": 0x541B, "TIOCOUTQ": 0x5411, "FIOQSIZE": 0x5460}
# Reading only: setting them, and similar requests of single file systems, changes host files by a read-only descriptor.
_FILE = {"FS_IOC_GETFLAGS": 0x80086601, "FS_IOC_GETVERSION": 0x80087601, "FS_IOC_FIEMAP": 0xC020660B, "FIGETBSZ": 2}
_NETWORK = {
    "SIOCATMARK": 0x8905, "SIOCGIFNAME": 0x8910, "SIOCGIFCONF": 0x8912, "SIOCGIFFLAGS": 0x8913, "SIOCGIFADDR": 0x8915,
    "SIOCGIFBRDADDR": 0x8919, "SIOCGIFNETMASK": 0x891B, "SIOCGIFMTU": 0x8921, "SIOCGIFHWADDR": 0x8927, "SIOCGIFINDEX": 0x8933,
}
SET_INTERFACE_FLAGS, _ETHTOOL = 0x8914, 0x8946
_FICLONE, _FICLONERANGE = 0x40049409, 0x4020940D


def ioctl(*more):
    requests = (*_TERMINAL.values(), *_DESCRIPTOR.values(), *_FILE.values(), *_NETWORK.values(), *more)
    # Copying works without clones, and a loopback has no driver to ask.
    return (Only(1, requests, answers=dict.fromkeys((_FICLONE, _FICLONERANGE, _ETHTOOL), errno.EOPNOTSUPP)),)


# Normal, random, sequential, needed, not needed, free, remove, (not) in a fork, (no) huge pages, (not) in a dump, (not)
# wiped in a fork, populate. Not merged (KSM), poisoned, or collapsed.
_ADVICE = (0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23)
# The segment registers, and leave to use AMX.
_ARCH_PRCTL = (0x1001, 0x1002, 0x1003, 0x1004, 0x1021, 0x1022, 0x1023)

_SO_SNDBUF, _SO_RCVBUF = 7, 8
# Filters use up the machine's BPF memory, zero copies keep pages, other options have no use on a loopback.
_SOCKET_OPTIONS = {
    "SO_REUSEADDR": 2, "SO_BROADCAST": 6, "SO_KEEPALIVE": 9, "SO_OOBINLINE": 10, "SO_LINGER": 13, "SO_REUSEPORT": 15,
    "SO_PASSCRED": 16, "SO_RCVTIMEO": 20, "SO_SNDTIMEO": 21, "SO_TIMESTAMP": 29, "SO_RCVTIMEO_NEW": 66, "SO_SNDTIMEO_NEW": 67,
}
_TCP_OPTIONS = {
    "TCP_NODELAY": 1, "TCP_CORK": 3, "TCP_KEEPIDLE": 4, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 6, "TCP_SYNCNT": 7,
    "TCP_DEFER_ACCEPT": 9, "TCP_QUICKACK": 12, "TCP_USER_TIMEOUT": 18,
}
_IP_OPTIONS = {"IP_TOS": 1, "IP_TTL": 2, "IP_PKTINFO": 8, "IP_MTU_DISCOVER": 10, "IP_RECVERR": 11, "IP_MULTICAST_TTL": 33,
               "IP_MULTICAST_LOOP": 34}
_IPV6_OPTIONS = {"IPV6_UNICAST_HOPS": 16, "IPV6_MULTICAST_HOPS": 18, "IPV6_RECVERR": 25, "IPV6_V6ONLY": 26, "IPV6_RECVPKTINFO": 49,
                 "IPV6_TCLASS": 67}

ARGUMENTS = {
    "clone": clone(),
    # Now or at an exec. The third flag gives a thread separate descriptors.
    "close_range": (Only(2, (0, 4), error=errno.EINVAL),),
    # A shared mapping without a file has pages that outlive it; pages of the huge page pool are not in a resident size.
    "mmap": (
        Only(3, (_PRIVATE | _ANONYMOUS, _PRIVATE, _SHARED, _SHARED_VALIDATE), mask=0xF | _ANONYMOUS | _HUGE_TLB),
    ),
    "madvise": (Only(2, _ADVICE, error=errno.EINVAL),),
    # Advice may be ignored: "not needed" would drop files of the host from memory for all processes.
    "fadvise64": (Only(3, (0, 1, 2, 3, 5), error=PRETEND),),
    "prctl": prctl(),
    "arch_prctl": (Only(0, _ARCH_PRCTL, error=errno.EINVAL),),
    # Reading and resetting.
    "personality": (Only(0, (0, 0xFFFFFFFF)),),
    # A process's own, never the supervisor's.
    "prlimit64": (Only(0, (0,)),),
    "sched_setaffinity": (Only(0, (0,)),),
    "setpriority": (Only(0, (0,)), Only(1, (0,))),
    "mknod": (Only(1, _KINDS_OF_NODES, mask=_KIND),),
    "mknodat": (Only(2, _KINDS_OF_NODES, mask=_KIND),),
    "fcntl": (Only(1, tuple(_FCNTL.values())),),
    "ioctl": ioctl(),
    "socket": socket_rules((UNIX, *INTERNET)),
    "socketpair": pair_rules(ANY_PAIRS),
    "sendto": no_gathering(3),
    "sendmsg": no_gathering(2),
    "setsockopt": (
        Either(1, {
            # Buffers in the kernel are memory: they keep their usual size.
            int(socket.SOL_SOCKET): (
                Only(2, tuple(_SOCKET_OPTIONS.values()), answers={_SO_SNDBUF: PRETEND, _SO_RCVBUF: PRETEND}),
            ),
            int(socket.IPPROTO_TCP): (Only(2, tuple(_TCP_OPTIONS.values())),),
            int(socket.IPPROTO_IP): (Only(2, tuple(_IP_OPTIONS.values())),),
            int(socket.IPPROTO_IPV6): (Only(2, tuple(_IPV6_OPTIONS.values())),),
        }),
    ),
}
