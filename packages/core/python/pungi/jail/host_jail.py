"""Jail 1: hides the host from the fork server, which will import third-party packages."""

import os
import sys

from . import bare_environment, data_folders, landlock, seccomp, shared_names, system
from .system import MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_REC

_SYSTEM_FOLDERS = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
# Files that libraries look up and that hold no secret. Accounts and hosts are written anew instead.
_SYSTEM_FILES = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/timezone",
    "/etc/mime.types", "/etc/os-release", "/etc/fonts", "/etc/services", "/etc/protocols",
    "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/var/lib/ca-certificates",
)
# The terminal is a process's own, and a run can have none but its own (TERMINALS).
DEVICES = ("null", "full", "random", "urandom", "tty")
# Written to and mapped as shared, it is memory that no process shows: landlock lets runs only read it.
READ_ONLY_DEVICES = ("zero",)
TERMINALS, CGROUPS = "/dev/pts", "/sys/fs/cgroup"
WORK, TMP, SHM, BOX = "/work", "/tmp", "/dev/shm", "/box"
# What runs see in the place of files and folders that are hidden from them.
_COVER = "/run/hidden"
# For files that packages write while they load. Runs find another folder in its place.
_SCRATCH = ((TMP, "64m,nr_inodes=4096"),)


def visible_paths(extra):
    """The paths that the interpreter, its libraries and the environment need, each once and existing."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *extra}
    prefixes |= {os.path.dirname(os.path.realpath(sys.executable)), os.path.dirname(sys.executable), *_virtual_environment()}
    for prefix in prefixes:
        if prefix == "/" or os.path.realpath(prefix) == os.path.realpath(os.path.expanduser("~")):
            raise OSError(f"the interpreter {sys.executable} would make {prefix} visible; use an interpreter in a separate folder")
    wanted = sorted({*_SYSTEM_FOLDERS, *_SYSTEM_FILES, *map(os.path.abspath, prefixes)})
    kept = []
    for path in wanted:
        below_kept = any(path.startswith(f"{other}/") for other in kept if not os.path.islink(other))
        if os.path.lexists(path) and not below_kept:
            kept.append(path)
    return kept


def _virtual_environment():
    """Without site, which is not loaded outside the jail, the interpreter does not know its virtual environment."""
    folder = os.path.dirname(os.path.dirname(sys.executable))
    return [folder] if os.path.exists(os.path.join(folder, "pyvenv.cfg")) else []


def enter_namespaces(settings):
    """Moves this process, PID 1 of fresh namespaces, into a new root, without capabilities and without the host's uid 0."""
    uid, gid = settings["identity"]
    is_root = uid == 0
    if not is_root:
        system.map_only(uid, gid)
    paths = visible_paths(settings["roots"])
    settings["covered"] = [path for path in paths if path.startswith((f"{WORK}/", f"{TMP}/", f"{SHM}/"))]
    system.mount(None, "/", flags=MS_PRIVATE | MS_REC)
    bare = bare_environment.FOLDER if settings["isBare"] else None
    data = data_folders.hold(settings["data"])
    devices = (*DEVICES, *READ_ONLY_DEVICES) if landlock.abi() > 0 else DEVICES
    build_root(paths, settings["uid"] if is_root else uid, scratch=_SCRATCH, data=data, bare=bare, devices=devices)
    if bare is not None:
        bare_environment.enter(bare)
    if is_root:
        become(settings["uid"])
    system.drop_capabilities()
    settings["data"] = data_folders.readable(settings["data"], data_folders.inside(settings["data"]))
    data_folders.refuse_sockets(settings["data"], data_folders.inside(settings["data"]))


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # Changing identity clears it, and without it our own uid_map cannot be written.
    system.set_dumpable(True)


def build_root(paths, uid, writable=(), scratch=(), data=(), bare=None, devices=DEVICES):
    """A root that holds the paths, each as it is on the host, all read-only but the writable; scratch folders are in memory.

    `data`: (descriptor, name) of folders that get these names, and from which nothing can be executed.
    `bare`: the folder of an environment without packages.
    """
    root = "/tmp"
    os.umask(0o022)
    opened = [(os.open(path, os.O_PATH), path) for path in paths if not os.path.islink(path)]
    links = [(os.readlink(path), path) for path in paths if os.path.islink(path)]
    devices = [(os.open(f"/dev/{name}", os.O_PATH), f"/dev/{name}") for name in devices if os.path.exists(f"/dev/{name}")]
    os.chdir("/")
    system.mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755")
    for folder, size in scratch:
        os.makedirs(root + folder)
        system.mount("tmpfs", root + folder, "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},mode=1777")
    for fd, path in opened:
        _bind(fd, root + path)
        system.seal_mount(root + path, read_only=path not in writable)
    for fd, name in data:
        target = f"{root}{data_folders.DATA}/{name}"
        _bind(fd, target)
        _cover(data_folders.hidden_in(name, target), root + _COVER)
        system.seal_mount(target, executable=False)
    for target, path in links:
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        os.symlink(target, root + path)
    for fd, path in devices:
        _bind(fd, root + path)
    for folder in ("/proc", "/old", WORK, TMP, SHM, BOX, TERMINALS):
        os.makedirs(root + folder, exist_ok=True)
    _write_accounts(root, uid)
    if bare is not None:
        bare_environment.make(root + bare)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"{root}/dev/{name}")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    system.mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    system.pivot_root(root, f"{root}/old")
    os.chdir("/")
    system.unmount("/old")
    os.rmdir("/old")
    for fd, _ in (*opened, *devices, *data):
        os.close(fd)
    system.mount(None, "/", flags=system.MS_REMOUNT | system.MS_BIND | system.MS_RDONLY | MS_NOSUID | MS_NODEV)


def _bind(fd, target):
    source = f"/proc/self/fd/{fd}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, "w").close()
    system.mount(source, target, flags=MS_BIND | MS_REC)


def _cover(hidden, cover):
    """Puts an empty folder or file in the place of each."""
    if hidden:
        os.makedirs(f"{cover}/folder", 0o500)
        open(f"{cover}/file", "w").close()
    for path, is_folder in hidden:
        system.mount(f"{cover}/{'folder' if is_folder else 'file'}", path, flags=MS_BIND)


def _write_accounts(root, uid):
    os.makedirs(f"{root}/etc", exist_ok=True)
    files = {
        "passwd": f"sandbox:x:{uid}:{uid}:sandbox:{WORK}:/bin/sh\n",
        "group": f"sandbox:x:{uid}:\n",
        "hosts": f"127.0.0.1 localhost\n127.0.0.1 {os.uname().nodename}\n::1 localhost ip6-localhost ip6-loopback\n",
        "nsswitch.conf": "".join(f"{name}: files\n" for name in ("passwd", "group", "hosts", "services", "protocols")),
    }
    for name, text in files.items():
        with open(f"{root}/etc/{name}", "w", encoding="ascii") as file:
            file.write(text)


def enter_landlock(settings):
    """Without namespaces: landlock limits the files in the same way, and the identity is not root's."""
    if not seccomp.is_supported():
        raise OSError(f"no system call filter for {system.MACHINE}")
    paths = visible_paths(settings["roots"])
    if os.getuid() == 0:
        become(settings["uid"])
    system.forbid_new_privileges()
    check_reachable()
    settings["data"] = data_folders.readable(settings["data"], data_folders.outside(settings["data"]))
    data = data_folders.outside(settings["data"])
    for fd, _ in data_folders.hold(settings["data"]):
        os.close(fd)
    rules = [(path, landlock.READ) for path in (*paths, "/proc")]
    # Runs read the limits of their cgroup there. The folders cannot be listed.
    rules.append((CGROUPS, landlock.READ_FILE))
    rules += device_rules()
    shown = [entry for name, path in data.items() for entry in data_folders.shown_in(name, path)]
    rules += [(path, landlock.DATA if is_whole else landlock.READ_DIR) for path, is_whole in shown]
    rules.append((settings["workBase"], landlock.WRITE))
    enter_bare_folder(settings)
    landlock.restrict(rules)
    system.become_subreaper()


def enter_nothing(settings):
    """Without any sandbox: only an identity that is not root's."""
    if os.getuid() == 0:
        become(settings["uid"])
        check_reachable()
    settings["data"] = data_folders.readable(settings["data"], data_folders.outside(settings["data"]))
    enter_bare_folder(settings)
    if system.IS_LINUX:
        system.become_subreaper()


def enter_bare_folder(settings):
    """Without our own root, the environment is on disk, where runs can read it and not write to it."""
    if not settings["isBare"]:
        return
    folder = os.path.join(settings["workBase"], f"environment-{os.getpid()}")
    shared_names.write(bare_environment.make(folder))
    bare_environment.enter(folder)


def device_rules():
    writable = [(f"/dev/{name}", landlock.DEVICE) for name in DEVICES]
    return writable + [(f"/dev/{name}", landlock.READ_DEVICE) for name in READ_ONLY_DEVICES]


def check_reachable():
    """The identity may have changed since the interpreter started."""
    for path in {sys.base_prefix, sys.prefix}:
        if not os.access(path, os.R_OK | os.X_OK):
            raise OSError(f"the sandbox's user cannot read {path}; use an interpreter that every user can read")
