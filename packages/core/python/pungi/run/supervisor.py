"""The supervisor: PID 1 of its own namespaces, in which it parks one worker after the other, each for one run.

No foreign code runs in it or can reach it. It relays output, enforces the limits of the run, ends every process of it, and
reports to the server what really happened.
"""

import os
import sys

from ..jail import file_gate, network_forwarder, run_jail, system
from . import frames
from .empty_stack import OnEmptyStack
from .station import Station
from .supervised_session import SupervisedSession
from .template import Template, TemplateEnded

# Then a fresh one takes its place, before anything that grows slowly can matter.
_RUNS_OF_ONE_SUPERVISOR = 2000
# The exit status of a supervisor that was forked for one run, if another run may follow; one more if a caller waits for it.
_STATUS_CALM = 80


def start(settings, name, channel, door, group, files):
    """Called in the fork server: forks a supervisor, which parks one worker after the other.

    `channel`: its connection to the server, which has introduced it already. `door`: the fork server's, which it must not keep.
    `group`: the cgroup of its runs, or None. `files`: the socket to the file keeper, or None.
    """
    if settings.get("network") is not None and network_forwarder.is_gone(settings["network"]):
        os._exit(75)  # without it no run can reach anything; the server starts a new one
    identity = (os.getuid(), os.getgid())
    pid = settings["tier"].fork_supervisor()
    if pid:
        return pid
    door.close()
    try:
        _serve(settings, name, channel, identity, group, files)
    except OnEmptyStack:
        raise  # a worker
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(0)


def _serve(settings, name, channel, identity, group, files):
    try:
        files = files if files is not None and file_gate.can_answer() else None
        place = _settle(settings, name, identity)._replace(group=group, files=files)
        if place.template is not None:
            place.template.start(place)
    except Exception as error:
        channel.sendall(frames.pack(frames.FAILED, str(error).encode()))
        return
    is_hurried, station = False, Station(place, channel)
    for number in range(_RUNS_OF_ONE_SUPERVISOR):
        if place.group is not None and not place.group.is_clean():
            break
        park_and_run = _park_and_run if place.template is not None else _park_and_run_apart
        is_hurried = park_and_run(settings.get("network"), station, is_hurried, f"{name}.{number}")
        if is_hurried is None:
            return
    place.box.remove()


def _settle(settings, name, identity):
    """Enters the jail of the runs, and builds what all of them share."""
    tier = settings["tier"]
    box, network = tier.settle(settings, name, identity)
    if system.IS_LINUX:
        system.set_dumpable(False)
    rules, gate = tier.raise_walls(box, network), tier.signal_gate()
    about_group, template = settings["aboutGroup"], Template() if tier.has_template() else None
    outside = tier.tasks_counted_outside()
    return run_jail.Place(tier, box, rules, outside, template, about_group=about_group, gate=gate, loopback=network)


def _park_and_run_apart(*about):
    """Without a template a worker is a fork of its supervisor, whose memory still holds what former runs were given and have printed. So
    each run has a supervisor that is forked for it, from this process, which sees nothing of a run."""
    pid = os.fork()
    if pid == 0:
        if system.IS_LINUX:
            system.become_subreaper()
        is_hurried = _park_and_run(*about)
        os._exit(_STATUS_CALM + is_hurried if is_hurried is not None else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return {_STATUS_CALM: False, _STATUS_CALM + True: True}.get(status)


def _park_and_run(door, station, is_hurried, caller):
    """Returns whether a caller waits for the next worker already; None if there is none here. `door`: hands over ports, for runs that may
    reach hosts."""
    try:
        port = network_forwarder.Port(door, caller) if door is not None else None
        run = SupervisedSession(station, is_hurried, port)
    except TemplateEnded:
        return None
    except OSError as error:
        station.channel.setblocking(True)
        station.channel.sendall(frames.pack(frames.FAILED, str(error).encode()))
        return None
    try:
        run.loop()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        run.abandon()
    return run.is_hurried if run.ended_well else None
