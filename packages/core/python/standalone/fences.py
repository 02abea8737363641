"""Keeps a script from the network and from writing files, if the settings ask for it. An audit hook sees what Python does, not
what compiled extensions do: it stops accidents, not attacks."""

import os
import sys

_NETWORK_EVENTS = frozenset((
    "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname",
    "socket.gethostbyaddr",
))
_WRITE_EVENTS = frozenset((
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "os.chflags", "os.utime", "os.setxattr", "os.removexattr", "shutil.move", "shutil.rmtree", "shutil.copyfile",
    "shutil.make_archive", "tempfile.mkstemp", "tempfile.mkdtemp", "sqlite3.connect",
))
# Another program would obey neither.
_PROGRAM_EVENTS = frozenset((
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "os.startfile/2", "pty.spawn",
))
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def raise_fences(allow_network, allow_file_write, result_path):
    if allow_network and allow_file_write:
        return
    sys.dont_write_bytecode = sys.dont_write_bytecode or not allow_file_write
    setting = "WRAPPER_ALLOW_FILE_WRITE" if allow_network else "WRAPPER_ALLOW_NETWORK"

    def hook(event, details):
        if event == "open":
            if not allow_file_write and _opens_for_writing(details) and details[0] not in (result_path, os.devnull):
                raise PermissionError(f"Writing files is turned off (WRAPPER_ALLOW_FILE_WRITE=false): {details[0]!r}")
        elif event in _NETWORK_EVENTS:
            if not allow_network and not _is_own_pair(sys._getframe(1)):
                raise PermissionError(f"The network is turned off (WRAPPER_ALLOW_NETWORK=false): {event}")
        elif event in _WRITE_EVENTS:
            if not allow_file_write and details[0] not in (":memory:", b":memory:"):
                raise PermissionError(f"Changing files is turned off (WRAPPER_ALLOW_FILE_WRITE=false): {event}")
        elif event in _PROGRAM_EVENTS:
            raise PermissionError(f"Other programs are not started while {setting} is false: they would not be held to it")

    sys.addaudithook(hook)


def _is_own_pair(frame, system=os.name):
    """Windows makes the two ends of a pair, which every event loop has, by connecting them."""
    return system == "nt" and frame.f_code.co_name in ("socketpair", "_fallback_socketpair")


def _opens_for_writing(details):
    """Whether the call opens a path for writing: a file that a number names is open already."""
    path, mode, flags = details
    if isinstance(path, int):
        return False
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITE_FLAGS)
