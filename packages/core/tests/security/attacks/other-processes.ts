import { type Attack, fixture, py, refused } from '../attack.js';

/** Seeing, signalling and tracing other runs, the fork server, the supervisor and the host. */
export const OTHER_PROCESSES: Attack[] = [
  refused(
    'sees other processes',
    // Command lines of the runner's tree hold a canary, which judge.ts would find in the output.
    py`
      try:
          pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
      except OSError:
          pids = []
      for pid in pids:
          for name in ("cmdline", "comm", "cgroup", "mountinfo"):
              try:
                  text = open(f"/proc/{pid}/{name}", errors="replace").read()
              except OSError:
                  continue
              if name == "cmdline" and "attack-runner" in text:
                  breach(f"{pid}: {text}")
      if context["tier"] == "namespace" and len(pids) > 4:
          breach(f"sees {pids}")
    `,
    { victim: true },
  ),
  refused(
    'signals the supervisor, the fork server, the server and another run',
    fixture('signal_others.py'),
    {
      harmful: true,
      victim: true,
    },
  ),
  refused(
    'signals everyone: kill(-1)',
    py`
      # In a pid namespace -1 reaches only this run's processes; either way nobody else must feel it.
      import signal
      child = spawn(lambda: time.sleep(30))
      try:
          os.kill(-1, signal.SIGKILL)
      except OSError:
          pass
      os.kill(child, signal.SIGKILL)
    `,
    { harmful: true, victim: true },
  ),
  {
    name: 'signals its own process group',
    code: py`
      import signal
      os.kill(0, signal.SIGKILL)
      time.sleep(3)
      print("BREACH still alive")
    `,
    harmful: true,
    victim: true,
    expect: { verdict: 'killed', details: { signal: 'SIGKILL' } },
  },
  refused(
    'stops the supervisor or its template by every signal, also queued and through a pidfd',
    py`
      import signal
      supervisor = os.getppid()
      for number in range(1, 65):
          if number in (32, 33):
              continue
          for pid in {1, supervisor, *neighbours()}:
              refuse(f"kill {pid} {number}", lambda: os.kill(pid, number))
              refuse(f"tgkill {pid} {number}", lambda: checked(_libc.tgkill(pid, pid, number)))
              refuse(f"sigqueue {pid} {number}", lambda: checked(_libc.sigqueue(pid, number, ctypes.c_void_p(1))))
      for pid in {supervisor, *neighbours()}:
          def by_pidfd():
              fd = syscall("pidfd_open", pid, 0)
              syscall("pidfd_send_signal", fd, signal.SIGKILL, None, 0)
          refuse(f"pidfd_send_signal {pid}", by_pidfd)
          if pid != 1:  # -1 is everyone
              refuse(f"killpg {pid}", lambda: os.kill(-pid, signal.SIGKILL), errno.ESRCH)
    `,
    { harmful: true },
  ),
  refused(
    'has the kernel signal others: F_SETOWN, timers, parent death',
    py`
      import fcntl, signal, socket
      left, right = socket.socketpair()
      for pid in {1, os.getppid(), *neighbours(), context["runnerPid"], *context["treePids"]} - {os.getpid()}:
          try:
              fcntl.fcntl(left, fcntl.F_SETOWN, pid)
              fcntl.fcntl(left, 10, signal.SIGKILL)  # F_SETSIG
              fcntl.fcntl(left, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
              right.send(b"x")
              left.recv(1)
          except OSError:
              pass
      time.sleep(0.1)
    `,
    { harmful: true, victim: true },
  ),
  refused(
    'traces and reads the memory of others',
    py`
      import ctypes
      local = ctypes.create_string_buffer(64)
      class Vector(ctypes.Structure):
          _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
      mine, theirs = Vector(ctypes.addressof(local), 64), Vector(ctypes.addressof(local), 64)
      for pid in {1, os.getppid(), *neighbours(), context["runnerPid"], *context["treePids"]} - {os.getpid()}:
          for request in (16, 0x4206):  # PTRACE_ATTACH, PTRACE_SEIZE
              refuse(f"ptrace {pid}", lambda: syscall("ptrace", request, pid, 0, 0))
          for name in ("process_vm_readv", "process_vm_writev"):
              refuse(f"{name} {pid}", lambda: syscall(name, pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0))
          refuse(f"kcmp {pid}", lambda: syscall("kcmp", os.getpid(), pid, 0, 0, 0))
          hide(f"move_pages {pid}", lambda: syscall("move_pages", pid, 0, 0, 0, 0, 0))
          hide(f"migrate_pages {pid}", lambda: syscall("migrate_pages", pid, 8, 0, 0))
      refuse("traceme", lambda: syscall("ptrace", 0, 0, 0, 0))
      for pid in {os.getppid(), *neighbours()}:
          def steal():
              fd = syscall("pidfd_open", pid, 0)
              return syscall("pidfd_getfd", fd, 0, 0)
          refuse(f"pidfd_getfd {pid}", steal)
    `,
    { victim: true },
  ),
  refused(
    'changes limits, priority and affinity of others',
    py`
      import resource
      others = {1, os.getppid(), *neighbours(), context["runnerPid"], *context["treePids"]} - {os.getpid()}
      for pid in others:
          hide(f"prlimit {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)))
          hide(f"prlimit files {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)))
          hide(f"setpriority {pid}", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
          hide(f"sched_setaffinity {pid}", lambda: os.sched_setaffinity(pid, {0}))
          hide(f"sched_setscheduler {pid}", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
          hide(f"ioprio_set {pid}", lambda: syscall("ioprio_set", 1, pid, 3 << 13))
      # Everybody of the same user or session, without naming anybody.
      for who in (0, os.getuid()):
          hide(f"setpriority user {who}", lambda: os.setpriority(os.PRIO_USER, who, 19))
          hide(f"ioprio_set user {who}", lambda: syscall("ioprio_set", 3, who, 3 << 13))
    `,
    { harmful: true, victim: true },
  ),
  refused(
    'raises its own limits, priority and rights',
    py`
      import resource
      for name in ("AS", "CPU", "NPROC", "NOFILE", "FSIZE", "CORE", "MEMLOCK"):
          kind = getattr(resource, "RLIMIT_" + name)
          hard = resource.getrlimit(kind)[1]
          if hard == resource.RLIM_INFINITY:
              continue  # held by the supervisor, not by an rlimit
          try:
              resource.setrlimit(kind, (hard + 1, hard + 1))
              breach(f"raised {name}")
          except (OSError, ValueError):
              pass
      refuse("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
      refuse("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
      for name, call in (("setuid", lambda: os.setuid(0)), ("setresuid", lambda: os.setresuid(0, 0, 0)),
                         ("setgid", lambda: os.setgid(0)), ("setgroups", lambda: os.setgroups([0])),
                         ("seteuid", lambda: os.seteuid(0)), ("setegid", lambda: os.setegid(0))):
          refuse(name, call, errno.EINVAL)  # EINVAL: this user namespace has no uid 0
      header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
      checked(_libc.capget(header, data))
      if any(data):
          breach(f"capabilities {list(data)}")
      if 0 in os.getresuid() + os.getresgid() + tuple(os.getgroups()):
          breach(f"{os.getresuid()} {os.getresgid()} {os.getgroups()}")
      if not _libc.prctl(39, 0, 0, 0, 0):
          breach("no_new_privs is off")
    `,
  ),
  refused(
    'gains rights by setuid programs',
    py`
      import glob, subprocess
      for program in ("/usr/bin/su", "/bin/su", "/usr/bin/sudo", "/usr/bin/newuidmap", "/usr/bin/passwd", "/usr/bin/mount"):
          if os.path.exists(program):
              try:
                  result = subprocess.run([program, "--help"], capture_output=True, timeout=2, stdin=subprocess.DEVNULL)
              except OSError:
                  continue
      # Its own copy of a shell with the setuid bit stays its own.
      import shutil
      shutil.copyfile("/bin/sh", "sh")
      try:
          os.chmod("sh", 0o6755)
          uids = subprocess.run(["./sh", "-c", "id -u; id -ru"], capture_output=True, text=True).stdout.split()
          if "0" in uids:
              breach(f"uids {uids}")
      except OSError:
          pass
    `,
  ),
];
