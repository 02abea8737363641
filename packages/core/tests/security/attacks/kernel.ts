import { type Attack, fixture, py, refused } from '../attack.js';

/** Doors into the kernel that no script needs. An EFAULT or EINVAL would mean that the call got past the filter. */
export const KERNEL: Attack[] = [
  refused(
    'writes to /proc',
    py`
      own = ["oom_score_adj", "oom_adj", "mem", "clear_refs", "coredump_filter", "timerslack_ns", "comm", "attr/current",
             "uid_map", "gid_map", "setgroups", "loginuid", "make-it-fail", "sched", "autogroup"]
      paths = [f"/proc/self/{name}" for name in own] + [f"/proc/{os.getpid()}/task/{os.getpid()}/comm"]
      paths += [f"/proc/{pid}/{name}" for pid in (1, os.getppid(), *neighbours()) for name in ("mem", "oom_score_adj", "comm", "clear_refs")]
      paths += ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe",
                "/proc/sys/kernel/randomize_va_space", "/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/pid_max",
                "/proc/sys/kernel/shmmax", "/proc/sys/kernel/msgmax", "/proc/sys/kernel/sem", "/proc/sys/kernel/domainname",
                "/proc/sys/vm/drop_caches", "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/file-max", "/proc/sys/fs/mqueue/msg_max",
                "/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv4/ping_group_range", "/proc/sys/user/max_user_namespaces",
                "/proc/sys/fs/binfmt_misc/register", "/proc/sysrq-trigger", "/proc/kmsg", "/proc/kcore", "/proc/irq/default_smp_affinity"]
      for path in paths:
          hide(path, lambda: open(path, "r+b", buffering=0))
          hide(path, lambda: os.open(path, os.O_WRONLY))
    `,
    { harmful: true },
  ),
  refused(
    'reads kernel secrets in /proc and /sys',
    py`
      for path in ["/proc/kcore", "/proc/kmsg", "/proc/sched_debug", "/proc/timer_list", "/proc/vmallocinfo", "/proc/slabinfo",
                   "/proc/keys", "/sys/kernel/debug/sched/debug", "/sys/kernel/security/apparmor/profiles",
                   "/sys/firmware/efi/efivars", "/sys/kernel/vmcoreinfo", "/sys/class/net/eth0/address",
                   "/sys/class/dmi/id/product_uuid"]:
          try:
              text = read(path)
          except OSError:
              continue
          if text and path != "/proc/keys":  # /proc/keys shows only keys that the reader may see
              breach(f"read {path}")
      addresses = []
      try:
          addresses = [line.split()[0] for line in open("/proc/kallsyms").read(4000).splitlines()]
      except OSError:
          pass
      if any(int(address, 16) for address in addresses):
          breach("kernel addresses")
    `,
  ),
  refused(
    'writes to /sys',
    py`
      for path in ["/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/power/state",
                   "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent",
                   "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/devices/devices.allow",
                   "/sys/module/kernel/parameters/panic", "/sys/devices/system/cpu/cpu1/online",
                   "/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/pids/cgroup.procs"]:
          hide(path, lambda: open(path, "r+b", buffering=0))
      for folder in ["/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/kernel/config", "/sys/fs/bpf"]:
          hide(folder, lambda: os.mkdir(f"{folder}/{context['mark']}"))
    `,
    { harmful: true },
  ),
  refused(
    'makes new namespaces',
    py`
      kinds = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
               "pid": 0x20000000, "net": 0x40000000, "time": 0x80}
      class CloneArguments(ctypes.Structure):
          _fields_ = [(name, ctypes.c_uint64) for name in ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack",
                      "stack_size", "tls", "set_tid", "set_tid_size", "cgroup")]
      for name, flag in kinds.items():
          refuse(f"unshare {name}", lambda: syscall("unshare", flag))
          refuse(f"unshare user and {name}", lambda: syscall("unshare", flag | kinds["user"]))
          def clone():
              pid = syscall("clone", flag | 17, 0, 0, 0, 0)
              if pid == 0:
                  os._exit(0)
              return pid
          if name != "time":  # its bit is part of the exit signal here
              refuse(f"clone {name}", clone)
          def clone3():
              arguments = CloneArguments(flags=flag, exit_signal=17)
              pid = syscall("clone3", ctypes.byref(arguments), ctypes.sizeof(arguments))
              if pid == 0:
                  os._exit(0)
              return pid
          refuse(f"clone3 {name}", clone3)
          for pid in (1, os.getppid(), "self"):
              def enter():
                  fd = os.open(f"/proc/{pid}/ns/{'mnt' if name == 'mount' else name}", os.O_RDONLY)
                  return syscall("setns", fd, 0)
              hide(f"setns {pid} {name}", enter)
    `,
  ),
  refused(
    'mounts, moves the root and makes devices',
    py`
      import stat
      os.mkdir("here")
      for kind in ("tmpfs", "proc", "sysfs", "overlay", "devpts", "cgroup", "cgroup2", "bpf", "ext4", "mqueue", "ramfs", "fuse"):
          refuse(f"mount {kind}", lambda: syscall("mount", b"none", b"here", kind.encode(), 0, None))
          refuse(f"fsopen {kind}", lambda: syscall("fsopen", kind.encode(), 0))
      refuse("bind", lambda: syscall("mount", b"/", b"here", None, 4096 | 16384, None))
      refuse("remount", lambda: syscall("mount", None, b"/", None, 32, None))
      refuse("propagate", lambda: syscall("mount", None, b"/", None, 1 << 20, None))
      refuse("umount", lambda: syscall("umount2", b"/proc", 2))
      refuse("pivot_root", lambda: syscall("pivot_root", b".", b"here"))
      refuse("chroot", lambda: os.chroot("here"))
      refuse("open_tree", lambda: syscall("open_tree", -100, b"/", 1))
      refuse("move_mount", lambda: syscall("move_mount", -1, b"", -100, b"here", 4))
      refuse("fsmount", lambda: syscall("fsmount", -1, 0, 0))
      refuse("fspick", lambda: syscall("fspick", -100, b"/", 0))
      refuse("mount_setattr", lambda: syscall("mount_setattr", -100, b"/", 0, None, 0))
      for major, minor in ((1, 1), (1, 3), (5, 0), (8, 0), (254, 0), (10, 229)):
          for kind in (stat.S_IFCHR, stat.S_IFBLK):
              refuse(f"mknod {major}:{minor}", lambda: os.mknod("device", 0o666 | kind, os.makedev(major, minor)))
      refuse("swapon", lambda: syscall("swapon", b"here", 0))
      hide("quotactl", lambda: syscall("quotactl", 0x80000700, b"/dev/vda", 0, None))
    `,
    { harmful: true },
  ),
  refused(
    'reaches bpf, perf, userfaultfd, io_uring, keyrings and fanotify',
    py`
      buffer = ctypes.create_string_buffer(256)
      refuse("bpf map", lambda: syscall("bpf", 0, buffer, 128))
      refuse("bpf program", lambda: syscall("bpf", 5, buffer, 128))
      refuse("perf", lambda: syscall("perf_event_open", buffer, 0, -1, -1, 0))
      refuse("userfaultfd", lambda: syscall("userfaultfd", 0))
      refuse("userfaultfd for user mode", lambda: syscall("userfaultfd", 1))
      refuse("io_uring_setup", lambda: syscall("io_uring_setup", 8, buffer))
      refuse("io_uring_enter", lambda: syscall("io_uring_enter", -1, 0, 0, 0, None, 0))
      refuse("io_uring_register", lambda: syscall("io_uring_register", -1, 0, None, 0))
      refuse("keyctl session", lambda: syscall("keyctl", 1, None))
      refuse("keyctl read", lambda: syscall("keyctl", 11, -3, buffer, 256))
      refuse("add_key", lambda: syscall("add_key", b"user", b"pungi", b"x", 1, -3))
      refuse("request_key", lambda: syscall("request_key", b"user", b"pungi", None, 0))
      refuse("fanotify", lambda: syscall("fanotify_init", 0, 0))
    `,
  ),
  refused(
    'shares memory outside its accounts: memfd and System V',
    py`
      refuse("memfd", lambda: syscall("memfd_create", b"x", 0))
      refuse("memfd huge", lambda: syscall("memfd_create", b"x", 4))
      refuse("memfd_secret", lambda: syscall("memfd_secret", 0))
      refuse("shmget", lambda: syscall("shmget", 0x7075, 4096, 0o1666))
      refuse("semget", lambda: syscall("semget", 0x7075, 1, 0o1666))
      refuse("msgget", lambda: syscall("msgget", 0x7075, 0o1666))
      # Pages given to a pipe stay alive, huge pages as a whole, when their mapping is gone.
      refuse("vmsplice", lambda: syscall("vmsplice", os.pipe()[1], (ctypes.c_void_p * 2)(0, 0), 0, 0))
    `,
  ),
  refused(
    'administers the machine: modules, kexec, reboot, clock, host name, log',
    py`
      # Arguments that would do nothing even for root.
      buffer = ctypes.create_string_buffer(256)
      refuse("init_module", lambda: syscall("init_module", buffer, 0, b""))
      refuse("finit_module", lambda: syscall("finit_module", -1, b"", 0))
      refuse("delete_module", lambda: syscall("delete_module", b"pungi-none", 0o4000))
      refuse("kexec_load", lambda: syscall("kexec_load", 0, 0, None, 0xFFFF))
      refuse("kexec_file_load", lambda: syscall("kexec_file_load", -1, -1, 0, None, 0))
      refuse("reboot", lambda: syscall("reboot", 0, 0, 0, None))
      seconds = time.time_ns() // 1_000_000_000
      refuse("settimeofday", lambda: syscall("settimeofday", (ctypes.c_long * 2)(seconds, 0), None))
      refuse("clock_settime", lambda: syscall("clock_settime", 0, (ctypes.c_long * 2)(seconds, 0)))
      refuse("adjtimex", lambda: syscall("adjtimex", (ctypes.c_uint32 * 64)(2)))
      refuse("sethostname", lambda: syscall("sethostname", os.uname().nodename.encode(), len(os.uname().nodename)))
      refuse("setdomainname", lambda: syscall("setdomainname", b"(none)", 6))
      refuse("acct", lambda: syscall("acct", b"/pungi-none"))
      refuse("swapoff", lambda: syscall("swapoff", b"/pungi-none"))
      refuse("vhangup", lambda: syscall("vhangup"))
      refuse("syslog", lambda: syscall("syslog", 3, buffer, 256))
      refuse("iopl", lambda: syscall("iopl", 3))
      refuse("ioperm", lambda: syscall("ioperm", 0x80, 1, 1))
      refuse("modify_ldt", lambda: syscall("modify_ldt", 1, None, 0))
    `,
    { harmful: true },
  ),
  refused('goes around the filter with other system call tables', fixture('other_call_tables.py'), {
    harmful: true,
  }),
  refused(
    'pushes characters into a terminal',
    py`
      import fcntl, termios
      for fd in range(0, 4096):
          try:
              fcntl.ioctl(fd, termios.TIOCSTI, b"x")
              breach(f"TIOCSTI on {fd}")
          except OSError:
              pass
      master = None
      try:
          master, slave = os.openpty()
          fcntl.ioctl(slave, termios.TIOCSTI, b"x")
          breach("TIOCSTI on an own terminal")
      except OSError:
          pass
    `,
  ),
  refused(
    'uses up what all of the machine, or all of a user, share',
    py`
      context_id = ctypes.c_ulong(0)
      refuse("io_setup", lambda: syscall("io_setup", 1000, ctypes.byref(context_id)))
      refuse("inotify_init1", lambda: syscall("inotify_init1", 0))
    `,
  ),
];
