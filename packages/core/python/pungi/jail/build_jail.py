"""The jail of a tool that builds source distributions, which runs any code that a package brings.

The process outside lends the folders, waits, and takes them back. Inside, PID 1 waits for the tool; a second process is the
only way out of an empty network, to the index proxy. When PID 1 ends, the kernel ends all processes of the build.
"""

import os
import resource
import select

from ..limits import watch
from ..tools import tool
from . import host_jail, lent_folders, network_forwarder, seccomp, system

_SCRATCH = ((host_jail.TMP, "256m"), (host_jail.SHM, "64m"))
_LARGEST_FILE = 8 << 30
# A bound to protect the machine, wide enough for a compiler on every core.
_MOST_TASKS = 2048
# The name by which the index proxy knows a build.
_CALLER = "build"


def run(order):
    """Runs the tool in the jail and returns its status, with 128 added to a signal's number."""
    jail = order["jail"]
    with tool.telling_failures("jail"):
        if not seccomp.is_supported():
            raise OSError(f"no system call filter for {system.MACHINE}")
        writable = _writable_folders(jail["writable"])
        paths = _visible_paths(order, writable)
        index = _hold_index(jail.get("index"))
        # Foreign code never holds the host's uid 0; any other identity is the only one that exists in the jail.
        identity = (jail["uid"], jail["uid"]) if os.getuid() == 0 else (os.getuid(), os.getgid())
        links = lent_folders.lend(writable, identity)
        try:
            child, life = _fork_into_namespaces()
        except OSError:
            lent_folders.take_back(writable, links)
            raise
    if child == 0:
        with tool.telling_failures("jail"):
            _enter(paths, writable, identity, life)
        os._exit(_supervise(order, index))
    status = _status_of(os.waitpid(child, 0)[1])
    with tool.telling_failures("return"):
        lent_folders.take_back(writable, links)
    return status


def _writable_folders(paths):
    folders = [os.path.abspath(path) for path in paths]
    for folder in folders:
        if os.path.islink(folder) or not os.path.isdir(folder):
            raise OSError(f"{folder} is not a folder")
    return folders


def _visible_paths(order, writable):
    """Parents before their children, so that a parent does not cover its child."""
    readable = [*order["jail"]["readable"], order["command"]]
    readable += map(os.path.realpath, readable[:])
    visible = host_jail.visible_paths(readable)
    # A path inside a writable folder or behind a link exists already, and must not be created through it.
    shown_by = tuple(f"{path}/" for path in (*writable, *filter(os.path.islink, visible)))
    return sorted({*writable, *(path for path in visible if not path.startswith(shown_by))})


def _hold_index(index):
    """Reaches the proxy's socket by a descriptor: its folder is not visible in the jail."""
    if index is None:
        return None
    return os.open(index, os.O_PATH)


def _fork_into_namespaces():
    """Forks; the child is PID 1 of fresh namespaces, with the end of a pipe that closes when the process outside is gone."""
    life, outside = os.pipe()
    flags = system.CLONE_NEWPID | system.CLONE_NEWNS | system.CLONE_NEWNET | system.CLONE_NEWIPC | system.CLONE_NEWUTS
    child = system.clone(flags if os.getuid() == 0 else flags | system.CLONE_NEWUSER)
    if child == 0:
        os.close(outside)
    return child, life


def _enter(paths, writable, identity, life):
    """Moves this process into a new root, without capabilities and without the host's uid 0."""
    # A new session: a signal to the build's group must not reach the process outside.
    os.setsid()
    uid = identity[0]
    is_root = os.getuid() == 0
    if not is_root:
        system.map_only(*identity)
    _limit(uid)
    system.mount(None, "/", flags=system.MS_PRIVATE | system.MS_REC)
    host_jail.build_root(paths, uid, writable, _SCRATCH)
    system.raise_loopback()
    if is_root:
        host_jail.become(uid)
    system.drop_capabilities()
    # After the identity changed: the kernel resets this setting at every change.
    system.die_with_parent()
    if select.select([life], [], [], 0)[0]:
        os._exit(1)
    seccomp.install(has_namespaces=True, has_flock=True)


def _limit(uid):
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
    limits = {
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_FSIZE: _LARGEST_FILE,
        resource.RLIMIT_NPROC: watch.tasks_of_user(uid) + _MOST_TASKS,
    }
    for limit, value in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))


def _supervise(order, index):
    """As PID 1: waits for any process that ends, until it is the tool."""
    with tool.telling_failures("jail"):
        if index is not None:
            # Both stay open for as long as this process lives.
            door = network_forwarder.start(index, (tool.SERVER,))
            _port = network_forwarder.Port(door, _CALLER)
        # After the forwarder, which makes itself undumpable.
        seccomp.install_last(has_flock=True)
    program = os.fork()
    if program == 0:
        with tool.telling_failures("start"):
            tool.start(order)
    tool.let_server_go()
    while True:
        pid, status = os.wait()
        if pid == program:
            return _status_of(status)


def _status_of(waited):
    status = os.waitstatus_to_exitcode(waited)
    return status if status >= 0 else 128 - status
