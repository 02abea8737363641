"""The isolation tiers: each defines the jail of the fork server, the folders and filters of runs, and who counts their processes.

`TIERS` holds one of each by its name, from the strongest down.
"""

import os

from ..limits import limits, watch
from ..limits.reaper import NamespaceReaper, Reaper
from ..run import started_as
from . import box, data_folders, file_keeper, host_jail, landlock, loopback, network_forwarder, run_jail, seccomp, signal_gate
from . import substitutes, system
from .call_arguments import SUPERVISOR_NAMESPACES


class Tier:
    """A tier without namespaces: runs are processes of the host, among others of their user."""

    name: str
    # Whether runs have separate pids, mounts, network and users.
    has_namespaces = False
    # The namespaces that `isolation.features` names.
    namespaces = ()
    reaper = Reaper

    # Around the fork server.

    def fork_fork_server(self):
        return os.fork()

    def enter(self, settings):
        """Moves the fork server into jail 1, with an identity that is not root's."""
        raise NotImplementedError

    def start_file_keeper(self, uid, work):
        """In the guard: starts the process that changes modes and times of runs' files, if runs may not; else None."""
        return None

    def start_forwarder(self, proxy):
        """Returns the socket on which supervisors hand over the ports of their runs."""
        raise OSError(f"the {self.name} tier has no separate network; hosts can be reached in the namespace tier only")

    def temporary_folder(self, settings):
        """The temporary folder of packages while they load."""
        return settings["workBase"]

    def settle_home(self):
        """Called once packages are loaded, for tiers whose runs all have the same folders."""

    def replace_functions(self):
        """Before packages are loaded: replaces functions of the standard library whose system calls are refused."""
        substitutes.install()

    def filter_packages(self, has_data):
        """Before packages are loaded. The filter stays on all that is forked."""
        system.forbid_new_privileges()
        seccomp.install_for_fork_server(self.has_namespaces, has_data)

    # Around a supervisor and its runs.

    def fork_supervisor(self):
        return os.fork()

    def settle(self, settings, name, identity):
        """In the supervisor, once: enters the jail of the runs. Returns the box that they write to, and their network or None."""
        if system.IS_LINUX:
            system.become_subreaper()
        folder = os.path.join(settings["workBase"], name)
        return box.FolderBox(folder, data_folders.outside(settings["data"]), hides_shm=self.hides_shm), None

    hides_shm = False

    def raise_walls(self, box, loopback):
        """In the supervisor, once: the rules of all its workers. Returns the landlock rules that each of them enters, if any."""
        return None

    def signal_gate(self):
        """In the supervisor, if the kernel does not keep runs from signalling others; else None."""
        return None

    def has_template(self):
        """In the supervisor: whether a template forks its workers (template.py)."""
        return False

    def tasks_counted_outside(self):
        """Tasks outside the run that the kernel may count into its RLIMIT_NPROC; None if unknown."""
        return limits.tasks_of_user()

    def signals_counted_outside(self):
        """The same for queued signals and timers."""
        return watch.queued_signals()

    # In a worker.

    def restrict_files(self, place):
        """First, while it still has the descriptor of the rules: from here on it writes only to its own folders."""

    def lock(self, place):
        """Last. Returns the names of the restrictions in force."""
        return run_jail.lock_worker(place)


class Namespace(Tier):
    """Namespaces, a new root, landlock if the kernel has it, and a system call filter."""

    name = "namespace"
    has_namespaces = True
    namespaces = ("user-namespace", "pid-namespace", "mount-namespace", "ipc-namespace", "network-namespace")
    reaper = NamespaceReaper

    def fork_fork_server(self):
        """The new process is PID 1 of fresh namespaces; the cgroup namespace hides the host's cgroup paths."""
        flags = (
            system.CLONE_NEWPID | system.CLONE_NEWNS | system.CLONE_NEWNET | system.CLONE_NEWIPC | system.CLONE_NEWUTS
            | system.CLONE_NEWCGROUP
        )
        return system.clone(flags if os.getuid() == 0 else flags | system.CLONE_NEWUSER)

    def enter(self, settings):
        host_jail.enter_namespaces(settings)

    def start_forwarder(self, proxy):
        network_forwarder.set_variables()
        return network_forwarder.start(proxy)

    def temporary_folder(self, settings):
        return host_jail.TMP

    def settle_home(self):
        started_as.settle_home(HOME=host_jail.WORK, TMPDIR=host_jail.TMP, PWD=host_jail.WORK)

    def fork_supervisor(self):
        """The child is PID 1 of fresh namespaces."""
        return system.clone(SUPERVISOR_NAMESPACES)

    def settle(self, settings, name, identity):
        run_jail.settle_in_namespaces(identity)
        loopback.bound_sockets()
        network = loopback.open_loopback()
        if network is None and settings.get("network") is not None:
            raise OSError("this kernel does not show what sockets hold, so runs have no loopback and can reach no hosts")
        covered = [(os.open(path, os.O_PATH), path) for path in settings["covered"]]
        return box.NamespaceBox(settings["diskMb"], covered, data_folders.inside(settings["data"])), network

    def raise_walls(self, box, loopback):
        return run_jail.raise_walls(box, loopback)

    def has_template(self):
        # On older kernels each worker has a bound of its own for signals, which depends on those of other runs.
        return _counts_by_namespace() and system.can_fork_siblings()

    def tasks_counted_outside(self):
        # Only the supervisor and the template are in the user namespace of the runs.
        return 2 if _counts_by_namespace() else None

    def signals_counted_outside(self):
        return 0 if _counts_by_namespace() else super().signals_counted_outside()

    def restrict_files(self, place):
        if place.rules is not None:
            landlock.enter(place.rules)


class Landlock(Tier):
    """Landlock rules for the files of the host, and a system call filter that also refuses sockets."""

    name = "landlock"
    hides_shm = True

    def enter(self, settings):
        host_jail.enter_landlock(settings)

    def start_file_keeper(self, uid, work):
        return file_keeper.start(uid, work)

    def replace_functions(self):
        super().replace_functions()
        substitutes.install_for_landlock()

    def signal_gate(self):
        return signal_gate.SignalGate() if landlock.abi() < landlock.RULES_SIGNALS else None

    def restrict_files(self, place):
        run_jail.restrict_by_landlock(place.box)


class Process(Tier):
    """No sandbox: resource limits and a supervisor that watches."""

    name = "process"

    def enter(self, settings):
        host_jail.enter_nothing(settings)

    def replace_functions(self):
        pass

    def filter_packages(self, has_data):
        pass

    def lock(self, place):
        return ["rlimits"]


def _counts_by_namespace():
    """Since Linux 5.14 tasks and signals are counted for each user namespace."""
    return system.kernel_version() >= (5, 14)


TIERS = {tier.name: tier for tier in (Namespace(), Landlock(), Process())}
