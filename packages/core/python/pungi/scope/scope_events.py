"""Maps Python's audit events to (operation, predicate for harmless arguments)."""

import os

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _never(arguments, folders):
    return False


def _is_library_read(arguments, folders):
    """Whether this opens an existing descriptor, nothing, or a file of the libraries."""
    path, mode, flags = (*arguments, None, None)[:3]
    if isinstance(path, int):
        return True
    try:
        path = os.fsdecode(path)
    except TypeError:
        return False
    # For code that does not parse, Python tries to open its file name to show the line.
    if path == os.devnull or (path.startswith("<") and path.endswith(">")):
        return True
    is_reading = not (isinstance(flags, int) and flags & _WRITING) and not (isinstance(mode, str) and set(mode) & set("wax+"))
    return is_reading and os.path.normpath(path).startswith(folders)


def _is_library_folder(arguments, folders):
    path = arguments[0] if arguments else None
    return isinstance(path, str) and f"{os.path.normpath(path)}/".startswith(folders)


def _is_in_memory(arguments, folders):
    return arguments[0] in (":memory:", b":memory:", "")


def _is_local(arguments, folders):
    return isinstance(arguments[-1], (str, bytes))  # the address of a unix socket


_FILE = (
    "os.remove os.rename os.mkdir os.rmdir os.link os.symlink os.truncate os.chmod os.chown os.utime tempfile.mkstemp "
    "tempfile.mkdtemp shutil.copyfile shutil.copytree shutil.rmtree shutil.move shutil.make_archive shutil.unpack_archive"
)
_PROCESS = (
    "os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.startfile subprocess.Popen pty.spawn os.kill os.killpg"
)
_NETWORK = (
    "socket.getaddrinfo socket.gethostbyname socket.gethostbyaddr socket.getnameinfo http.client.connect ftplib.connect "
    "smtplib.connect imaplib.open poplib.connect nntplib.connect telnetlib.Telnet.open"
)
_NATIVE = (
    "ctypes.dlopen ctypes.dlsym ctypes.dlsym/handle ctypes.call_function ctypes.cdata ctypes.cdata/buffer ctypes.string_at "
    "ctypes.wstring_at ctypes.addressof ctypes.PyObj_FromPtr"
)

operation_of = (
    {event: ("file", _never) for event in _FILE.split()}
    | {event: ("process", _never) for event in _PROCESS.split()}
    | {event: ("network", _never) for event in _NETWORK.split()}
    | {event: ("network", _is_local) for event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")}
    | {event: ("native", _never) for event in _NATIVE.split()}
    | {
        "open": ("file", _is_library_read),
        "os.listdir": ("file", _is_library_folder),
        "os.scandir": ("file", _is_library_folder),
        "sqlite3.connect": ("file", _is_in_memory),
    }
)
