"""Processes: subprocess in all its forms, fork, exec, signals, process groups, limits, terminals."""
import ctypes, os, platform, pty, resource, select, signal, subprocess, sys, time

assert subprocess.run(["sh", "-c", "cat; exit 3"], input=b"in", capture_output=True).returncode == 3
assert subprocess.check_output("echo $((6 * 7)) | cat", shell=True) == b"42\n"
subprocess.run([sys.executable, "-c", "print(1)"], check=True, capture_output=True, start_new_session=True, cwd="/")
subprocess.run(["/bin/true"], preexec_fn=os.setpgrp, check=True)
subprocess.run(["/bin/ls", "-laR", "/usr/lib/ssl", "/etc"], capture_output=True)
subprocess.run("find . -name x; sort /dev/null; date; id; uname -a; df .; nproc; env; mkdir -p q; cp -r q r; rm -r q r; "
               "touch f; mv f g; tar cf t.tar g; gzip t.tar; grep x g; sed -n 1p g; awk 1 g; head g; tail g; wc g; seq 3 | xargs echo",
               shell=True, capture_output=True)
try:
    subprocess.run(["sleep", "100"], timeout=0.1)
except subprocess.TimeoutExpired:
    pass
os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
os.system("true")
assert os.popen("echo hi").read() == "hi\n"
child = os.fork()
if child == 0:
    os.setsid()
    os.execv("/bin/sh", ["sh", "-c", "exit 7"])
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
child = os.fork()
if child == 0:
    signal.pause()
os.getpgid(child), os.getsid(0), os.getpriority(os.PRIO_PROCESS, 0)
os.kill(child, signal.SIGTERM)
os.waitid(os.P_PID, child, os.WEXITED)
if hasattr(os, "pidfd_open"):
    child = os.fork()
    if child == 0:
        time.sleep(100)
    fd = os.pidfd_open(child)
    if hasattr(signal, "pidfd_send_signal"):
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    else:
        os.kill(child, 9)
    select.select([fd], [], [])
    os.wait3(0), os.close(fd)
caught = []
for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD, signal.SIGVTALRM):
    signal.signal(number, lambda number, frame: caught.append(number))
signal.raise_signal(signal.SIGUSR1)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
signal.setitimer(signal.ITIMER_VIRTUAL, 10), signal.getitimer(signal.ITIMER_VIRTUAL), signal.setitimer(signal.ITIMER_VIRTUAL, 0)
signal.alarm(10), signal.alarm(0)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
os.kill(os.getpid(), signal.SIGUSR2)
assert signal.sigpending() == {signal.SIGUSR2}
assert signal.sigwait({signal.SIGUSR2}) == signal.SIGUSR2
signal.sigtimedwait({signal.SIGUSR2}, 0.01)
signal.siginterrupt(signal.SIGUSR1, True)
assert signal.SIGUSR1 in caught and signal.SIGALRM in caught
resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
os.times(), os.getloadavg() if os.path.exists("/proc/loadavg") else 0, os.cpu_count(), os.sched_getaffinity(0), os.sched_yield()
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.sched_getscheduler(0), os.sched_get_priority_max(os.SCHED_FIFO), os.sched_getparam(0), os.nice(1)
os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups(), os.getresuid(), os.getresgid(), os.getlogin, os.getppid()
platform.platform(), os.uname(), os.sysconf("SC_NPROCESSORS_ONLN"), os.urandom(8), os.getrandom(8)
time.sleep(0.001), time.perf_counter(), time.process_time(), time.thread_time(), time.clock_getres(time.CLOCK_MONOTONIC)
try:
    ends = os.openpty()
    os.ttyname(ends[1]), os.get_terminal_size(ends[0])
    pty.spawn(["/bin/true"])
except OSError:
    pass  # there are no terminals in the sandbox
os.isatty(0)
ctypes.CDLL(None).getpid()
print("ok")
