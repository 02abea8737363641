"""Runs a tool of the field (uv, ruff) so that it cannot outlive the server, in a jail where it builds foreign code.

Descriptor 3, a socket: the order comes as JSON; what failed on our side goes back as a line {"failed": REASON, "at": STEP}.
stdin, stdout and stderr belong to the program from the start.
"""

import contextlib
import json
import os
import resource
import signal

from ..jail import system

SERVER = 3


def main():
    order = json.loads(_read_all(SERVER))
    _keep_descriptors()
    with telling_failures("start"):
        _stay_with(order["server"])
        system.leave_session_keyring()
        # Environments are read by the sandbox's user, whatever the server's own umask hides.
        os.umask(0o022)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _restore_signals()
        os.chdir("/")
        if order.get("jail") is not None:
            from ..jail import build_jail

            os._exit(build_jail.run(order))
        start(order)


def start(order):
    """Becomes the program; comes back only by an error."""
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
    """The program gets its streams alone: not the way back to the server, and nothing that the server inherited."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(int(name), False)


def _stay_with(server):
    """The wish to die with the server is kept by the kernel when the program is started."""
    if system.IS_LINUX:
        system.die_with_parent()
    if os.getppid() != server:
        os._exit(1)


def _restore_signals():
    """Python ignores some signals, and what is ignored stays so in the program that it becomes."""
    for name in ("SIGPIPE", "SIGXFSZ", "SIGINT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def let_server_go():
    """For a process beside the program, which must not answer for it."""
    os.close(SERVER)
