"""The system calls that the standard library does not offer, through libc."""

import ctypes
import errno
import functools
import os
import platform
import socket
import struct

# None on Windows, where nothing below is called.
_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
# A PyDLL call keeps the GIL, which the child of a raw clone would otherwise never get back.
_with_gil = ctypes.PyDLL(None, use_errno=True) if os.name == "posix" else None

MACHINE = platform.machine()
IS_LINUX = platform.system() == "Linux"

CLONE_PARENT = 0x00008000
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 15, 36, 38
_SIGCHLD, _SIGKILL = 17, 9
_CLONE_CHILD_CLEARTID, _CLONE_CHILD_SETTID = 0x00200000, 0x01000000
_PR_GET_TID_ADDRESS = 40
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
# (get, set)
_SYS_ROBUST_LIST = {"x86_64": (274, 273), "aarch64": (100, 99)}
_SYS_RT_SIGACTION, _SA_RESTART = {"x86_64": 13, "aarch64": 134}, 0x10000000
_SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}
_KEYCTL_JOIN_SESSION_KEYRING = 1
_SYS_MOUNT_SETATTR = 442
_MNT_DETACH = 2
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


def check(result, what):
    """Raises OSError for a libc call that returned a negative number."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def syscall(number, *arguments):
    return _libc.syscall(ctypes.c_long(number), *arguments)


def prctl(option, *values):
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    check(_libc.prctl(option, *padded), f"prctl {option}")


def die_with_parent():
    prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def set_dumpable(dumpable):
    prctl(_PR_SET_DUMPABLE, int(dumpable))


def set_name(name):
    """The name of the thread, as in /proc/self/comm."""
    text = ctypes.create_string_buffer(name)
    prctl(_PR_SET_NAME, ctypes.addressof(text))


def restarts_calls(signal):
    """Whether system calls go on after a handler of the signal (`siginterrupt`), which Python sets and does not tell."""
    action = ctypes.create_string_buffer(64)  # that of the kernel: the handler, the flags, and what is not needed here
    check(syscall(_SYS_RT_SIGACTION[MACHINE], signal, None, action, ctypes.c_size_t(8)), "rt_sigaction")
    return bool(struct.unpack_from("L", action, struct.calcsize("P"))[0] & _SA_RESTART)


def end_of_heap():
    _libc.sbrk.restype = ctypes.c_void_p
    return _libc.sbrk(ctypes.c_ssize_t(0))


def become_subreaper():
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges():
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def leave_session_keyring():
    """Takes the keys of the user who started the server from this process and all that it becomes or starts."""
    if not IS_LINUX or MACHINE not in _SYS_KEYCTL:
        return
    if syscall(_SYS_KEYCTL[MACHINE], ctypes.c_ulong(_KEYCTL_JOIN_SESSION_KEYRING), None) < 0:
        error = ctypes.get_errno()
        # A kernel or a container without keyrings has none to leave.
        if error not in (errno.ENOSYS, errno.EPERM, errno.EACCES):
            raise OSError(error, f"could not create a session keyring: {os.strerror(error)}")


def clone(flags):
    """fork() into new namespaces. Python's own bookkeeping around a fork is done as os.fork does it."""
    _with_gil.PyOS_BeforeFork()
    # CLONE flags come first on x86_64 and aarch64 alike; no new stack, so the child goes on here like a fork.
    pid = _with_gil.syscall(ctypes.c_long(_SYS_CLONE[MACHINE]), ctypes.c_ulong(flags | _SIGCHLD), 0, 0, 0, 0)
    error = ctypes.get_errno()
    if pid == 0:
        _with_gil.PyOS_AfterFork_Child()
        return 0
    _with_gil.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return pid


# The calls of `fork_sibling`, with their arguments: a new process copies every page that it writes to, and arguments are objects.
_before_fork = _clone_sibling = _after_fork_in_child = _after_fork_in_parent = _set_robust_list = _become_dumpable = None


def prepare_siblings():
    """In the guard, which libc has started: finds what `fork_sibling` needs, for all that is forked."""
    global _before_fork, _clone_sibling, _after_fork_in_child, _after_fork_in_parent, _set_robust_list, _become_dumpable
    address, locks, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    if not IS_LINUX or MACHINE not in _SYS_CLONE or _libc.prctl(_PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) < 0:
        return
    get, renew = _SYS_ROBUST_LIST[MACHINE]
    # Another libc keeps something else at that address.
    if ctypes.c_int.from_address(address.value).value != os.getpid() or syscall(get, 0, ctypes.byref(locks), ctypes.byref(size)) < 0:
        return
    # The address of the child's number is the fourth argument on x86_64, the fifth on aarch64; the other one is not used.
    flags = CLONE_PARENT | _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID | _SIGCHLD
    _clone_sibling = functools.partial(_with_gil.syscall, _SYS_CLONE[MACHINE], flags, None, None, address, address)
    _before_fork, _after_fork_in_parent = _with_gil.PyOS_BeforeFork, _with_gil.PyOS_AfterFork_Parent
    _after_fork_in_child = _with_gil.PyOS_AfterFork_Child
    # fork() of libc renews the list of its robust locks, too.
    _set_robust_list = functools.partial(_with_gil.syscall, renew, locks, size)
    _become_dumpable = functools.partial(_with_gil.prctl, _PR_SET_DUMPABLE, 1, 0, 0, 0)


def can_fork_siblings():
    return _clone_sibling is not None


def fork_sibling():
    """fork(), but the child's parent is the parent of this process, and it is dumpable."""
    _before_fork()
    try:
        pid = fork_bare_sibling()
    except OSError:
        _after_fork_in_parent()
        raise
    if pid == 0:
        _after_fork_in_child()
    else:
        _after_fork_in_parent()
    return pid


def fork_bare_sibling():
    """fork_sibling() without the bookkeeping of the interpreter, for a process that has one thread and holds no lock."""
    pid = _clone_sibling()
    if pid == 0:
        _set_robust_list()
        _become_dumpable()
    elif pid < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"clone: {os.strerror(error)}")
    return pid


def map_only(uid, gid):
    """In a fresh user namespace: maps the identity that we already have, and no other."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError as error:
            raise OSError(error.errno, f"{name}: {error.strerror}") from error


def drop_capabilities():
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    check(_libc.capset(header, data), "capset")
    forbid_new_privileges()


def mount(source, target, kind=None, flags=0, data=None):
    def encode(text):
        return None if text is None else os.fsencode(text)

    result = _libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(data))
    check(result, f"mount {target}")


class _MountAttr(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]


def seal_mount(path, read_only=True, executable=True):
    """Disables devices and set-uid programs in a bind mount and everything mounted below it, and makes it read-only by default."""
    sealed = MS_NOSUID | MS_NODEV | (MS_RDONLY if read_only else 0) | (0 if executable else MS_NOEXEC)
    attributes = _MountAttr(sealed, 0, 0, 0)
    at_fdcwd, at_recursive = -100, 0x8000
    result = syscall(
        _SYS_MOUNT_SETATTR, at_fdcwd, os.fsencode(path), at_recursive, ctypes.byref(attributes), ctypes.sizeof(attributes)
    )
    if result == 0:
        return
    # Before Linux 5.12: the mount itself only, keeping the flags that a user namespace may not clear.
    kept = os.statvfs(path).f_flag & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount(None, path, flags=MS_BIND | MS_REMOUNT | sealed | kept)


def pivot_root(new_root, put_old):
    check(syscall(_SYS_PIVOT_ROOT[MACHINE], os.fsencode(new_root), os.fsencode(put_old)), "pivot_root")


def unmount(path):
    check(_libc.umount2(os.fsencode(path), _MNT_DETACH), f"umount {path}")


def raise_loopback():
    """Brings up the loopback of a fresh network namespace."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


def kernel_version():
    major, minor, *_ = platform.release().split(".")
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)
