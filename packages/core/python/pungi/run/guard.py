"""The guard: the process outside jail 1. It runs no foreign code, and nothing inside can reach it.

It holds the lease on the generation of the environment (lease.py). It starts the fork server and enforces its limits, while
packages load and afterwards; it opens the connection of every supervisor to the server, so that no process inside needs a socket
of the host. A module whose import fails leaves half of itself behind, so the guard then starts the fork server anew, without that
module.

stdin: orders of the server; its end ends everything. stdout: reports, each a line of JSON: {"ready": true, "preloaded":
{NAME: MS}}, {"notPreloaded": NAME, ...}, {"failed": REASON}. stderr: what processes inside print, up to a bound.
"""

import contextlib
import os
import select
import signal
import socket
import time

from ..jail import box, system
from ..limits import load_limits
from ..limits.reaper import Reaper
from . import guard_door, memory_file
from .lease import Lease
from .orders import Orders

_CHUNK = 65536
_MOST_REPORTS = 4096
_MOST_RELAYED = 256 * 1024
_STATUS_FAILED = 75


def run(settings, groups, become_fork_server):
    """Starts the fork server, again without those modules that cannot be preloaded. Never returns.

    `groups`: creates the cgroups of supervisors (cgroup_keeper.py).
    `become_fork_server(settings, door)` is called in the new process and does not return.
    """
    try:
        system.leave_session_keyring()
        lease = Lease(settings.get("lease"))
    except OSError as error:
        _report({"failed": f"{error}"})
        os._exit(_STATUS_FAILED)
    if system.IS_LINUX:
        # Processes that lose their parent inside are ended with the rest.
        system.become_subreaper()
    os.set_blocking(2, False)
    orders = Orders(settings["socket"], groups, lease)
    preload = list(settings["preload"])
    while True:
        try:
            guarded = Guarded({**settings, "preload": preload}, become_fork_server, orders)
        except OSError as error:  # such as a container that has a root user and no other
            _report({"failed": f"{error}"})
            os._exit(_STATUS_FAILED)
        try:
            skipped = guarded.watch()
        finally:
            guarded.end()
        preload = [name for name in preload if name not in skipped]


class Guarded:
    """One fork server, from its start to its end."""

    def __init__(self, settings, become_fork_server, orders):
        self._settings, self._orders = settings, orders
        self._work = self._make_work_folder()
        self._keeper = settings["tier"].start_file_keeper(settings["uid"], self._work)
        self._door, inside = socket.socketpair()
        self._said, stderr = os.pipe()
        # Its stage: entering the jail, loading packages (and which), or serving.
        self._stage, self._at, self._since = "entering", None, 0.0
        self._pending, self._reports, self._printed = b"", 0, 0
        self._loaded, self._skipped, self._absent = {}, [], []
        self._limits = load_limits.LoadLimits(settings, self._work)
        identity = (os.getuid(), os.getgid())
        try:
            self._pid = settings["tier"].fork_fork_server()
        except OSError as error:
            self._fail(f"{error}")
        if self._pid == 0:
            orders.close()
            if self._keeper is not None:
                self._keeper.close()
            _leave_guard(inside, stderr, (self._door.fileno(), self._said))
            become_fork_server({**settings, "workBase": self._work, "identity": identity}, inside)
            os._exit(0)
        inside.close()
        os.close(stderr)
        self._door.setblocking(False)
        os.set_blocking(self._said, False)

    def _make_work_folder(self):
        """One folder for each fork server: runs in one environment must not find the files of another."""
        folder = os.path.join(self._settings["workBase"], f"of-{os.urandom(8).hex()}")
        os.mkdir(folder, 0o700)
        if os.getuid() == 0:
            try:
                os.chown(folder, self._settings["uid"], self._settings["uid"])
            except PermissionError as error:
                raise PermissionError("root without capabilities can enter no sandbox; use an ordinary user") from error
        return folder

    def watch(self):
        """Runs until the server goes or the fork server ends. Returns the modules to leave out if it must start anew."""
        poller = self._poller()
        while not self._skipped:
            ready = [fd for fd, _ in poller.poll(self._limits.patience_ms())]
            if self._said in ready and not self._relay():
                poller.unregister(self._said)
            if self._door.fileno() in ready and not self._hear():
                poller.unregister(self._door)
            if 0 in ready and not self._orders.read():
                self._leave(0)
            if self._skipped:
                break
            if os.waitpid(self._pid, os.WNOHANG)[0]:
                self._on_end()
            elif passed := self._limits.check(self._pid, self._stage, self._printed):
                self._hear()  # it may have begun another module since it was heard
                if not self._skipped:
                    self._stop(passed)
            elif self._stage == "serving":
                self._pass_on_orders()
        return self._skipped

    def _pass_on_orders(self):
        try:
            self._orders.pass_on(self._door, self._keeper)
        except OSError as error:  # such as no cgroup, if packages keep those of former supervisors
            self._fail(f"the fork server could not be asked for a supervisor: {error}")

    def _poller(self):
        poller = select.poll()
        fds = [0, self._door.fileno(), self._said]
        if hasattr(os, "pidfd_open"):
            self._pidfd = os.pidfd_open(self._pid)
            fds.append(self._pidfd)
        for fd in fds:
            poller.register(fd, select.POLLIN)
        return poller

    def _relay(self):
        """Returns False at the end. Output beyond the bound is read, counted and dropped."""
        try:
            data = os.read(self._said, _CHUNK)
        except BlockingIOError:
            return True
        room = _MOST_RELAYED - self._printed
        self._printed += len(data)
        if data and room > 0:
            _write_what_fits(2, data[:room])
        return bool(data)

    def _hear(self):
        """Reads reports. Packages may have written all but the first: they name what is loaded, and decide nothing."""
        try:
            data = self._door.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._reports += 1
            if self._reports <= _MOST_REPORTS:
                self._on_report(guard_door.read_report(line))
            elif self._stage == "loading" and not self._skipped:
                self._stop(f"made more than {_MOST_REPORTS} reports")
        self._pending = self._pending[: guard_door.LONGEST_REPORT]
        return bool(data)

    def _on_report(self, report):
        if self._stage == "entering":
            if "failed" in report:
                self._fail(f"{report['failed']}")
            if "loading" in report:
                self._stage = "loading"
                self._limits.begin(self._pid)
                self._door.sendall(guard_door.pack_line({"load": True}))
        elif self._stage == "loading":
            if "at" in report:
                self._at, self._since = f"{report['at']}", time.monotonic()
            elif report.get("preloaded") in self._settings["preload"]:
                self._loaded.setdefault(report["preloaded"], round((time.monotonic() - self._since) * 1000, 1))
            elif report.get("notPreloaded") in self._settings["preload"]:
                self._skip(report["notPreloaded"], f"{report.get('reason')}", report.get("isAbsent") is True)
            elif "memory" in report:
                self._lend_file(report["memory"])
            elif "ready" in report:
                self._serve()

    def _lend_file(self, size):
        """Lends the fork server a file for its memory (memory_file.py), if it is alone: a process that it has started would write to the
        old memory."""
        file = None
        if type(size) is int and self._limits.lends(self._pid, size):
            with contextlib.suppress(OSError):  # there is no memory left, or no such file
                file = memory_file.make(size)
        guard_door.lend(self._door, file)

    def _serve(self):
        """Refuses to serve while anything that packages started is running: a fork must copy one thread, which is ours."""
        if left := self._limits.left_behind(self._pid):
            return self._stop(left)
        self._stage = "serving"
        _report({"ready": True, "preloaded": self._loaded})

    def _on_end(self):
        self._hear()  # its last reports
        if self._skipped:
            return
        if self._stage == "serving":
            self._leave(1)
        if self._stage == "entering":
            self._fail("the fork server ended while it entered its jail")
        self._stop("ended the interpreter")

    def _stop(self, passed):
        """`passed`: the limit it exceeded, as the end of a sentence about the package being loaded."""
        if self._stage == "serving":
            self._fail(f"the packages of the environment {passed}")
        if self._at in self._settings["preload"]:
            self._skip(self._at, f"it {passed}")
            if passed == self._limits.too_slow:
                # The time was for all of them.
                for name in self._settings["preload"]:
                    if name not in self._loaded and name not in self._skipped:
                        self._skip(name, f"no time was left after {self._at}")
            return
        self._fail(f"the packages of the environment cannot be loaded: {self._at or 'one of them'} {passed}", byPackages=True)

    def _skip(self, name, reason, is_absent=False):
        """A module that does not exist leaves nothing behind; any other means a new start without it."""
        if name in self._absent or name in self._skipped:
            return  # packages repeat it
        _report({"notPreloaded": name, "isAbsent": is_absent, "reason": reason[:1000]})
        (self._absent if is_absent else self._skipped).append(name)

    def _fail(self, reason, **more):
        _report({"failed": reason[:2000], **more})
        self._leave(_STATUS_FAILED)

    def _leave(self, status):
        self.end()
        os._exit(status)

    def end(self):
        if getattr(self, "_pid", 0):
            Reaper(self._pid).kill_all()
        self._door.close()
        if self._keeper is not None:
            self._keeper.close()
        os.close(self._said)
        if hasattr(self, "_pidfd"):
            os.close(self._pidfd)
        box.remove_tree(self._work)


def _leave_guard(door, stderr, others):
    """In the new process: drops the server's streams and starts a session, so that no signal to its group reaches the guard."""
    os.setsid()
    for fd in others:
        os.close(fd)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(nothing, fd)
    os.dup2(stderr, 2)
    os.close(nothing)
    os.close(stderr)
    os.set_blocking(2, True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _report(report):
    data = guard_door.pack_line(report)
    while data:
        data = data[os.write(1, data) :]


def _write_what_fits(fd, data):
    try:
        os.write(fd, data)
    except OSError:
        pass  # nobody reads
