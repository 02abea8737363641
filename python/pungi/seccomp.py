"""A seccomp filter that denies by purpose: what no analysis needs and what attacks are made of.

Everything else stays allowed, so that numpy, pandas, threads, subprocesses and multiprocessing work unchanged.
"""

import ctypes
import errno
import functools
import socket
import struct

from . import system

# name: (x86_64, aarch64); None where the architecture has no such call.
_CALLS = {
    "looking into other processes": {
        "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
        "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
        "move_pages": (279, 239), "migrate_pages": (256, 238),
        "ioprio_set": (251, 30), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    },
    "namespaces and mounts": {
        "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
        "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467),
        "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
        "mount_setattr": (442, 442), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
        "quotactl": (179, 60), "quotactl_fd": (443, 443), "swapon": (167, 224), "swapoff": (168, 225),
    },
    "the kernel itself": {
        "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
        "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "fanotify_init": (300, 262),
        "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
        "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
        "finit_module": (313, 273), "delete_module": (176, 106), "syslog": (103, 116), "reboot": (169, 142),
        "acct": (163, 89), "nfsservctl": (180, 42), "lookup_dcookie": (212, 18), "iopl": (172, None),
        "ioperm": (173, None), "modify_ldt": (154, None), "_sysctl": (156, None), "uselib": (134, None),
        "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
        "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162),
        "vhangup": (153, 58), "memfd_secret": (447, 447),
    },
    # A page that is spliced into a pipe keeps the huge page around it, which no process then shows.
    "pages given away": {"vmsplice": (278, 75)},
    "what all of the machine, or all of a user, share": {
        "io_setup": (206, 0), "inotify_init": (253, None), "inotify_init1": (294, 26), "file_setattr": (469, 469),
    },
}
# Memory that no process's resident size shows. ENOSYS, so that libraries take their other way.
_UNCOUNTED_MEMORY = {
    "memfd_create": (319, 279), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
}
# Landlock does not rule attributes: without namespaces they would reach every file of the same user.
_ATTRIBUTES = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466),
}
# Descriptors parked inside a socket, where their files' size is not seen.
_BEYOND_LANDLOCK = {"sendmsg": (46, 211), "sendmmsg": (307, 269)}
# clone3 hides its flags behind a pointer; told that it does not exist, libc falls back to clone.
_CLONE3 = (435, 435)
_CLONE, _SOCKET, _PRLIMIT, _PERSONALITY = (56, 220), (41, 198), (302, 261), (135, 92)
_MKNOD, _MKNODAT, _SETPRIORITY, _IOCTL = (133, None), (259, 33), (141, 140), (16, 29)
_SCHED_SETAFFINITY, _MMAP, _PRCTL = (203, 122), (9, 222), (157, 167)
_SETSOCKOPT, _FCNTL, _FLOCK = (54, 208), (72, 25), (73, 32)

_NEW_NAMESPACES = 0x7E020080
SUPERVISOR_NAMESPACES = (
    system.CLONE_NEWUSER | system.CLONE_NEWPID | system.CLONE_NEWNS | system.CLONE_NEWIPC | system.CLONE_NEWNET
)
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_SHARED_ANONYMOUS = 0x21
_SOME_SOCKETS = (int(socket.AF_UNIX), int(socket.AF_INET), int(socket.AF_INET6))
_NO_UNIX_SOCKETS = _SOME_SOCKETS[1:]
_NO_SOCKETS = (0xFFFF,)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
# They change a file of the host through a descriptor that can only read: flags and versions (each for 64 and 32 bits, the
# latter also by ext4's own number), FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY.
_INODE_REQUESTS = (
    0x40086602, 0x40046602, 0x40087602, 0x40047602, 0x40086604, 0x40046604, 0x40806685, 0x800C6613,
)
# The same, and more, by single file systems: xfs (and FS_IOC_FSSETXATTR), btrfs, f2fs. Copying does without clones.
_INODE_REQUEST_TYPES = (0x5800, 0x9400, 0xF500)
_PR_SET_DUMPABLE, _SO_SNDBUF, _SO_RCVBUF = 4, 7, 8
# A lease keeps others from opening a file.
_F_SETPIPE_SZ, _F_SETLEASE, _F_NOTIFY = 1031, 1024, 1026
_PRETEND = 0

_LOAD, _JUMP, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _AND, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_SECCOMP_SET_MODE_FILTER = 1
_SYS_SECCOMP = (317, 277)


class _Program:
    """Classic BPF, written as blocks that each look at one call and fall through when it is another."""

    def __init__(self, machine):
        self._column = list(_AUDIT_ARCH).index(machine)
        self._code = []
        self._emit(_LOAD, 4)
        self._emit(_JUMP_EQUAL, _AUDIT_ARCH[machine], 1, 0)
        self._emit(_RETURN, _KILL_PROCESS)
        self._emit(_LOAD, 0)
        if machine == "x86_64":
            self._emit(_JUMP_AT_LEAST, _X32_BIT, 0, 1)
            self._emit(_RETURN, _ERRNO | errno.ENOSYS)

    def _emit(self, code, value, if_true=0, if_false=0):
        self._code.append(struct.pack("HBBI", code, if_true, if_false, value & 0xFFFFFFFF))

    def number(self, call):
        return call[self._column]

    def deny(self, call, error=errno.EPERM):
        number = self.number(call)
        if number is not None:
            self._emit(_JUMP_EQUAL, number, 0, 1)
            self._emit(_RETURN, _ERRNO | error)

    def deny_if(self, call, argument, tests, mask=0xFFFFFFFF, error=errno.EPERM):
        """Denies a call whose masked argument meets one of the tests; other rules may follow for the same call."""
        self._inspect(call, argument, tests, mask, on_hit=_ERRNO | error, on_miss=None)

    def deny_unless(self, call, argument, allowed, error=errno.EPERM):
        """Denies a call whose argument is none of the allowed values; other rules may follow for the same call."""
        self._inspect(call, argument, [(_JUMP_EQUAL, value) for value in allowed], 0xFFFFFFFF, None, _ERRNO | error)

    def _inspect(self, call, argument, tests, mask, on_hit, on_miss):
        number = self.number(call)
        if number is None:
            return
        self._emit(_JUMP_EQUAL, number, 0, len(tests) + 5)
        self._emit(_LOAD, 16 + 8 * argument)
        self._emit(_AND, mask)
        for index, (jump, value) in enumerate(tests):
            left = len(tests) - index - 1
            # Past the tests stand: a jump over the denial (or into it), the denial, the number loaded again.
            self._emit(jump, value, left + (2 if on_hit is None else 1), 0)
        self._emit(_JUMP, 0 if on_hit is None else 1)
        self._emit(_RETURN, on_miss if on_hit is None else on_hit)
        self._emit(_LOAD, 0)

    def finish(self):
        self._emit(_RETURN, _ALLOW)
        return b"".join(self._code), len(self._code)


@functools.cache
def _build(machine, has_namespaces, has_data):
    program = _Program(machine)
    for group in _CALLS.values():
        for call in group.values():
            program.deny(call)
    for call in (*_UNCOUNTED_MEMORY.values(), _CLONE3):
        program.deny(call, errno.ENOSYS)
    program.deny_if(_CLONE, 0, [(_JUMP_ANY_BIT, _NEW_NAMESPACES)])
    program.deny_unless(_SOCKET, 0, _families(has_namespaces, has_data), errno.EACCES)
    if has_data:
        # Nobody of the host waits for a run that has locked a file. ENOSYS, on which HDF5 reads without a lock. The locks
        # of fcntl stay, since SQLite needs them: on what can only be read they are shared ones.
        program.deny(_FLOCK, errno.ENOSYS)
    # Limits, priority and affinity: a process's own, never the supervisor's.
    for call, argument in ((_PRLIMIT, 0), (_SETPRIORITY, 0), (_SETPRIORITY, 1), (_SCHED_SETAFFINITY, 0)):
        program.deny_unless(call, argument, [0])
    program.deny_unless(_PERSONALITY, 0, [0, 0xFFFFFFFF])
    devices = [(_JUMP_EQUAL, 0o020000), (_JUMP_EQUAL, 0o060000)]
    program.deny_if(_MKNOD, 1, devices, mask=0o170000)
    program.deny_if(_MKNODAT, 2, devices, mask=0o170000)
    # Its pages outlive their mapping, so that they too are memory that no process shows.
    program.deny_if(_MMAP, 3, [(_JUMP_EQUAL, _SHARED_ANONYMOUS)], mask=_SHARED_ANONYMOUS)
    # Buffers in the kernel are memory too: they keep their usual size.
    program.deny_if(_SETSOCKOPT, 2, [(_JUMP_EQUAL, _SO_SNDBUF), (_JUMP_EQUAL, _SO_RCVBUF)], error=_PRETEND)
    program.deny_if(_FCNTL, 1, [(_JUMP_EQUAL, command) for command in (_F_SETPIPE_SZ, _F_SETLEASE, _F_NOTIFY)])
    program.deny_if(_IOCTL, 1, [(_JUMP_EQUAL, request) for request in (_TIOCSTI, _TIOCLINUX, *_INODE_REQUESTS)])
    program.deny_if(_IOCTL, 1, [(_JUMP_EQUAL, kind) for kind in _INODE_REQUEST_TYPES], mask=0xFF00)
    if not has_namespaces:
        for call in _ATTRIBUTES.values():
            # Success that changes nothing: copying a file would otherwise fail at its last step.
            program.deny(call, _PRETEND)
        for call in _BEYOND_LANDLOCK.values():
            program.deny(call, errno.EACCES)
    return program.finish()


# A supervisor, which the fork server becomes by a fork, needs them to build its namespaces.
_OF_SUPERVISORS = ("mount", "umount2")


@functools.cache
def _build_for_fork_server(machine, has_namespaces):
    program = _Program(machine)
    for group in _CALLS.values():
        for name, call in group.items():
            if not (has_namespaces and name in _OF_SUPERVISORS):
                program.deny(call)
    for call in (*_UNCOUNTED_MEMORY.values(), _CLONE3):
        program.deny(call, errno.ENOSYS)
    # A process, a thread, or a supervisor with namespaces of its own.
    refused = _NEW_NAMESPACES & ~(SUPERVISOR_NAMESPACES if has_namespaces else 0)
    program.deny_if(_CLONE, 0, [(_JUMP_ANY_BIT, refused)])
    program.deny_unless(_SOCKET, 0, _SOME_SOCKETS if has_namespaces else _SOME_SOCKETS[:1], errno.EACCES)
    program.deny_unless(_PRLIMIT, 0, [0])
    program.deny_unless(_PERSONALITY, 0, [0, 0xFFFFFFFF])
    program.deny_if(_MMAP, 3, [(_JUMP_EQUAL, _SHARED_ANONYMOUS)], mask=_SHARED_ANONYMOUS)
    program.deny_if(_FCNTL, 1, [(_JUMP_EQUAL, command) for command in (_F_SETPIPE_SZ, _F_SETLEASE, _F_NOTIFY)])
    program.deny_if(_IOCTL, 1, [(_JUMP_EQUAL, request) for request in (_TIOCSTI, _TIOCLINUX, *_INODE_REQUESTS)])
    program.deny_if(_IOCTL, 1, [(_JUMP_EQUAL, kind) for kind in _INODE_REQUEST_TYPES], mask=0xFF00)
    return program.finish()


@functools.cache
def _build_readable(machine):
    program = _Program(machine)
    program.deny_if(_PRCTL, 0, [(_JUMP_EQUAL, _PR_SET_DUMPABLE)])
    return program.finish()


def _families(has_namespaces, has_data):
    """The sockets that may be made.

    A filter sees no address. In a folder of the host somebody may begin to listen at any time, so a run that sees one
    makes no unix socket at all: socketpair stays, multiprocessing's managers and its forkserver do not.
    """
    if not has_namespaces:
        return _NO_SOCKETS
    return _NO_UNIX_SOCKETS if has_data else _SOME_SOCKETS


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def is_supported():
    return system.IS_LINUX and system.MACHINE in _AUDIT_ARCH


def prepare(has_namespaces, has_data):
    """Builds the filters before the forks, which then share them."""
    if is_supported():
        _build(system.MACHINE, has_namespaces, has_data)
        _build_readable(system.MACHINE)


def install(has_namespaces, has_data=False):
    """Puts the filter on this process and on all that it will start; needs no_new_privs.

    `has_data`: folders of the host are shown to it."""
    _install(*_build(system.MACHINE, has_namespaces, has_data))


def install_for_fork_server(has_namespaces):
    """Puts a filter on the fork server before it loads packages; needs no_new_privs. It cannot be lifted, and supervisors and
    workers inherit it below their own.

    It refuses what neither packages nor supervisors need: io_uring, userfaultfd, memfd, keyrings, bpf, perf, ptrace, setns,
    unshare and the like. It leaves what a supervisor does after its fork: a clone into its own namespaces, mount, landlock,
    seccomp, the socket to the server. So namespaces, mounts and (in the landlock tier) unix sockets of the host are not
    kept from packages by it."""
    _install(*_build_for_fork_server(system.MACHINE, has_namespaces))


def stay_readable():
    """Keeps a worker, and what it will start, from hiding its memory and files from the supervisor."""
    _install(*_build_readable(system.MACHINE))


def _install(code, length):
    program = _FilterProgram(length, code)
    number = _SYS_SECCOMP[list(_AUDIT_ARCH).index(system.MACHINE)]
    system.check(system.syscall(number, _SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(program)), "seccomp")
