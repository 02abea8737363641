"""The interpreter of one run: takes on the identity and the variables of the run, loads packages as any interpreter does, and
waits for its job."""

import gc
import json
import os
import site
import sys

from standalone.child_limits import die_with_wrapper

from .. import harness
from ..jail import bare_environment, data_folders
from ..limits import processors
from ..run import bursts, display_hooks, font_list, frames, job as jobs, last_output, late_modules, script, started_as, streams
from ..run.empty_stack import OnEmptyStack
from ..run.supervisor_channel import JOB_FD, REPORT_FD, say

if os.name == "posix":
    from ..jail import host_jail
    from ..limits import limits, watch

# Above the files of the script; its other end closes with the supervisor, however that ends.
_LIFELINE = JOB_FD - 1
_exit = os._exit


def main():
    """Never returns: the steps of the worker run on an empty stack."""
    raise OnEmptyStack(_steps(json.loads(sys.argv[2])))


def _steps(about):
    try:
        _take_descriptors(about)
        _settle(about)
        job = _wait_for_job()
        status = 0
        if job is not None:
            status = yield from jobs.run(job, about["work"], about["temporary"], _set_limits, about["data"])
        _exit(status)  # a worker serves one run
    except OSError as error:
        frames.write_all(REPORT_FD, frames.pack(frames.FAILED, f"{error}".encode()))
        _exit(75)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        _exit(70)


def _take_descriptors(about):
    """Leaves descriptor 0 empty, and moves the job and the report to high numbers."""
    job, report = (_open_inherited(about[name], flags) for name, flags in (("job", os.O_RDONLY), ("report", os.O_WRONLY)))
    if os.name == "nt":
        os.read(0, 1)  # until the supervisor has put this process into the job object
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((job, JOB_FD), (report, REPORT_FD), (0, _LIFELINE), (nothing, 0)):
        os.dup2(source, target, inheritable=target == 0)
    for fd in (job, report, nothing):
        os.close(fd)
    die_with_wrapper(_LIFELINE)


def _open_inherited(number, flags):
    if os.name == "posix":
        return number
    import msvcrt

    return msvcrt.open_osfhandle(number, flags)


def _settle(about):
    if about["uid"] is not None:
        host_jail.become(about["uid"])
        host_jail.check_reachable()
    if about["bare"] is not None:
        bare_environment.enter(about["bare"])
    _set_variables(about)
    os.chdir(about["work"])
    os.umask(0o022)
    data_folders.link(about["data"])
    started_as.leave_own_folder()
    started_as.clear_flags()
    last_output.promise()
    if os.name == "posix":
        limits.prepare()
        limits.bound_signals(watch.queued_signals)
    site.main()
    display_hooks.install()
    streams.prepare()
    bursts.prepare(*streams.outputs)
    late_modules.hide(harness.__name__)


def _set_variables(about):
    work, temporary = about["work"], about["temporary"]
    if os.name == "nt":
        os.environ.update(USERPROFILE=work, TEMP=temporary, TMP=temporary)
    else:
        os.environ.update(HOME=work, TMPDIR=temporary, PWD=work)
        started_as.set_variables()
    font_list.find(os.environ.get("VIRTUAL_ENV", sys.prefix))
    font_list.offer(temporary)
    os.environ.update(processors.variables(processors.count()))


def _wait_for_job():
    features = ["rlimits"] if os.name == "posix" else ["job-object"]
    cgroup = {"version": None, "reason": "runs of the spawn tier have none"}
    gc.freeze()  # existing objects are left alone when the script's objects are collected
    say(frames.PARKED, {"features": features, "python": sys.version.split()[0], "magic": script.MAGIC, "cgroup": cgroup})
    frame = frames.read_frame(JOB_FD)
    return None if frame is None else json.loads(frame[1])


def _set_limits(most):
    if os.name == "posix":
        limits.bound_tasks(limits.tasks_of_user(), most["processes"])
        limits.bound_run(most)
