"""Runs an external tool (uv, ruff), or another role of these modules, so that it cannot outlive the server; in a jail if it builds foreign
code.

Descriptor 3, a socket: the order comes as JSON; a failure of this program goes back as a line {"failed": REASON, "at": STEP}.
stdin, stdout and stderr belong to the tool from the start.
"""

import contextlib
import importlib
import json
import os
import resource
import signal
import sys

from ..jail import system

SERVER = 3


def main():
    order = json.loads(_read_all(SERVER))
    _keep_descriptors()
    with telling_failures("start"):
        _stay_with(order["server"])
        system.leave_session_keyring()
        # The sandbox's user reads environments, whatever the server's own umask hides.
        os.umask(0o022)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _restore_signals()
        os.chdir("/")
        if order.get("jail") is not None:
            from ..jail import build_jail

            os._exit(build_jail.run(order))
        if "role" not in order:
            start(order)
        module = importlib.import_module(order["role"])
    os.close(SERVER)
    sys.argv[2:] = order["args"]
    module.main()


def start(order):
    """Becomes the program; returns only by an error."""
    os.chdir(order.get("folder", "/"))
    os.execve(order["command"], [order["command"], *order["args"]], order["env"])


@contextlib.contextmanager
def telling_failures(step):
    """Ends this process with an answer to the server when something in it fails."""
    try:
        yield
    except Exception as error:
        reason = getattr(error, "strerror", None) if step == "start" else None
        os.write(SERVER, f"{json.dumps({'failed': reason or f'{error}', 'at': step})}\n".encode())
        os._exit(127)


def _read_all(fd):
    parts = []
    while part := os.read(fd, 65536):
        parts.append(part)
    return b"".join(parts)


def _keep_descriptors():
    """Leaves the program only its streams: not the socket to the server, and nothing that the server inherited."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(int(name), False)


def _stay_with(server):
    """Makes this process die with the server. The kernel keeps this setting when the program starts."""
    if system.IS_LINUX:
        system.die_with_parent()
    if os.getppid() != server:
        os._exit(1)


def _restore_signals():
    """Python ignores some signals, and the program that it becomes would inherit that."""
    for name in ("SIGPIPE", "SIGXFSZ", "SIGINT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def let_server_go():
    """In a helper process of the program: closes the socket to the server, because it must not answer for the program."""
    os.close(SERVER)
