import { type Attack, bomb, py, refused } from '../attack.js';

/** Every call of a row, by its numbers on x86_64 and aarch64, must be refused whatever its arguments are. */
const calls = (name: string, table: Record<string, readonly [number, number | null]>): Attack =>
  refused(
    name,
    py`
      import json
      page = ctypes.create_string_buffer(4096)
      for name, numbers in json.loads('''${JSON.stringify(table)}''').items():
          if (number := numbers[_ARM]) is not None:
              refuse(name, lambda: syscall(number, 0, 0, 0, 0, 0, 0))
              refuse(f"{name} with wrong arguments", lambda: syscall(number, -1, -1, -1, -1, -1, -1))
              refuse(f"{name} with a page", lambda: syscall(number, page, page, 0, page, 0, 0))
    `,
  );

/** Calls that nothing needs, by what they would reach. */
const NOT_ON_THE_LIST: Attack[] = [
  calls('asks for System V messages and semaphores behind their names', {
    semop: [65, 193],
    semctl: [66, 191],
    semtimedop: [220, 192],
    msgsnd: [69, 189],
    msgrcv: [70, 188],
    msgctl: [71, 187],
  }),
  calls('asks for POSIX message queues', {
    mq_unlink: [241, 181],
    mq_timedsend: [242, 182],
    mq_timedreceive: [243, 183],
    mq_notify: [244, 184],
    mq_getsetattr: [245, 185],
  }),
  calls('uses the older asynchronous input and output', {
    io_destroy: [207, 1],
    io_getevents: [208, 4],
    io_submit: [209, 2],
    io_cancel: [210, 3],
    io_pgetevents: [333, 292],
  }),
  calls("uses up a user's timers", {
    timer_create: [222, 107],
    timer_settime: [223, 110],
    timer_gettime: [224, 108],
    timer_getoverrun: [225, 109],
    timer_delete: [226, 111],
  }),
  calls('takes signals as files', { signalfd: [282, null], signalfd4: [289, 74] }),
  calls('sets NUMA policies', {
    mbind: [237, 235],
    set_mempolicy: [238, 237],
    get_mempolicy: [239, 236],
    set_mempolicy_home_node: [450, 450],
  }),
  calls('uses protection keys and seals', {
    pkey_mprotect: [329, 288],
    pkey_alloc: [330, 289],
    pkey_free: [331, 290],
    mseal: [462, 462],
    remap_file_pages: [216, 234],
    map_shadow_stack: [453, 453],
  }),
  calls('locks memory', {
    mlock: [149, 228],
    munlock: [150, 229],
    mlockall: [151, 230],
    munlockall: [152, 231],
    mlock2: [325, 284],
  }),
  calls('watches files of the host', {
    inotify_add_watch: [254, 27],
    inotify_rm_watch: [255, 28],
    fanotify_mark: [301, 263],
  }),
  calls('asks which parts of host files are in memory', { cachestat: [451, 451], readahead: [187, 213] }),
  calls('asks for mounts and security modules', {
    statmount: [457, 457],
    listmount: [458, 458],
    lsm_get_self_attr: [459, 459],
    lsm_set_self_attr: [460, 460],
    lsm_list_modules: [461, 461],
    ustat: [136, null],
    sysfs: [139, null],
  }),
  calls('uses the newer kinds of locks and barriers', {
    membarrier: [324, 283],
    futex_waitv: [449, 449],
    futex_wake: [454, 454],
    futex_wait: [455, 455],
    futex_requeue: [456, 456],
  }),
  calls('writes back the whole file system', { syncfs: [306, 267], sync_file_range: [277, 84] }),
  calls('uses the newer ways to files', {
    openat2: [437, 437],
    setxattrat: [463, 463],
    getxattrat: [464, 464],
    listxattrat: [465, 465],
    removexattrat: [466, 466],
    file_getattr: [468, 468],
    file_setattr: [469, 469],
  }),
  calls('makes sets of landlock rules, which descriptors keep in memory', {
    landlock_create_ruleset: [444, 444],
    landlock_add_rule: [445, 445],
    landlock_restrict_self: [446, 446],
  }),
  calls('asks other processes for their locks and priorities', {
    get_robust_list: [274, 100],
    ioprio_get: [252, 31],
    sched_getattr: [315, 275],
  }),
  calls('sets segments and limits of the processor', {
    set_thread_area: [205, null],
    get_thread_area: [211, null],
  }),
  calls('passes descriptors by many messages at once', { sendmmsg: [307, 269], recvmmsg: [299, 243] }),
  calls('asks for disk quotas', { quotactl: [179, 60], quotactl_fd: [443, 443] }),
  refused(
    'makes calls that newer kernels brought, and those that no kernel has yet',
    py`
      fchmodat2 = 452
      for number in {*range(447, 601), 1000, 4096, 65536, (1 << 30) - 1} - {fchmodat2}:
          refuse(number, lambda: syscall(number, -1, 0, 0, 0, 0, 0))
    `,
  ),
  refused(
    'changes its identity and its capabilities',
    py`
      own = os.getuid(), os.getgid()
      refuse("setuid", lambda: os.setuid(own[0]))
      refuse("setgid", lambda: os.setgid(own[1]))
      refuse("setreuid", lambda: os.setreuid(-1, own[0]))
      refuse("setresgid", lambda: os.setresgid(*[own[1]] * 3))
      refuse("setgroups", lambda: os.setgroups([]))
      header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
      refuse("capset", lambda: syscall((126, 91)[_ARM], header, data))
    `,
  ),
];

/** Pages that a pipe or a socket keeps are memory that no process shows. */
const KEPT_PAGES: Attack[] = [
  refused(
    'puts pages of files into pipes and sockets: splice and tee',
    py`
      import socket
      splice, tee = (275, 76)[_ARM], (276, 77)[_ARM]
      source = os.open(os.__file__, os.O_RDONLY)
      (take, put), (take2, put2) = os.pipe(), os.pipe()
      refuse("splice a file into a pipe", lambda: syscall(splice, source, None, put, None, 1, 0))
      os.write(put, b"x")
      refuse("tee", lambda: syscall(tee, take, put2, 1, 0))
      refuse("splice a pipe into a pipe", lambda: syscall(splice, take, None, put2, None, 1, 0))
      here, there = socket.socketpair()
      refuse("splice a pipe into a socket", lambda: syscall(splice, take, None, here.fileno(), None, 1, 0))
    `,
  ),
  refused(
    'puts pages of files into pipes and sockets: sendfile',
    py`
      import socket
      source = os.open(os.__file__, os.O_RDONLY)
      here, there = socket.socketpair()
      # The call itself: os.sendfile reads and writes instead.
      send = lambda target: checked(_libc.sendfile(target, source, None, ctypes.c_size_t(1)))
      refuse("into a pipe", lambda: send(os.pipe()[1]), errno.ENOTSOCK)
      refuse("into a socket", lambda: send(here.fileno()), errno.ENOTSOCK)
    `,
  ),
  bomb({
    name: 'memory in pages of which a pipe keeps one byte',
    code: py`
      import mmap, resource
      write("pages", b"x" * (1 << 20))
      source = os.open("pages", os.O_RDONLY)
      kept = 0
      pipes = [os.pipe() for _ in range(50)]
      for offset in range(0, 4000):
          try:
              os.set_blocking(pipes[offset % 50][1], False)
              start = ctypes.byref(ctypes.c_long(offset * 256 % (1 << 20)))
              kept += checked(_libc.sendfile(pipes[offset % 50][1], source, start, ctypes.c_size_t(1)))
          except OSError:
              break
      print("BREACH" if kept else "refused")
    `,
    expect: { verdict: 'ok', stdout: 'refused\n' },
  }),
  refused(
    'sends from its own pages without a copy',
    py`
      import socket
      def ask(option, value):
          here, there = socket.socketpair()
          here.setsockopt(socket.SOL_SOCKET, option, value)
      refuse("SO_ZEROCOPY", lambda: ask(60, 1))
      def connected():
          with socket.socket() as client:
              client.setsockopt(socket.SOL_SOCKET, 60, 1)
      refuse("SO_ZEROCOPY on TCP", connected)
    `,
  ),
  refused(
    'maps huge pages of the pool, and pages that the kernel may drop',
    py`
      _libc.mmap.restype = ctypes.c_void_p
      def map_with(flags):
          ctypes.set_errno(0)
          address = _libc.mmap(None, ctypes.c_size_t(2 << 20), 3, flags, -1, 0)
          if address == ctypes.c_void_p(-1).value:
              raise OSError(ctypes.get_errno(), "mmap")
          return address
      refuse("huge", lambda: map_with(0x22 | 0x40000))
      refuse("huge, 1 GB", lambda: map_with(0x22 | 0x40000 | 30 << 26))
      refuse("droppable", lambda: map_with(0x28))
    `,
  ),
  refused(
    'has the kernel merge its pages with those of others',
    py`
      import mmap
      area = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
      refuse("MADV_MERGEABLE", lambda: area.madvise(12), errno.EINVAL)
      refuse("PR_SET_MEMORY_MERGE", lambda: checked(_libc.prctl(67, 1, 0, 0, 0)))
    `,
  ),
];

/** Filters are programs in the kernel; all of them together have one budget on the machine. */
const FILTERS: Attack[] = [
  refused(
    'adds system call filters, and listens to those of others',
    py`
      class Program(ctypes.Structure):
          _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
      allow = bytes.fromhex("06000000") + (0x7FFF0000).to_bytes(4, "little")
      program = Program(1, allow)
      seccomp = (317, 277)[_ARM]
      for flags in (0, 1, 2, 4, 8, 16):
          refuse(f"filter with flags {flags}", lambda: syscall(seccomp, 1, flags, ctypes.byref(program)))
      refuse("actions", lambda: syscall(seccomp, 2, 0, ctypes.byref(ctypes.c_uint32(0x7FFF0000))))
      refuse("sizes", lambda: syscall(seccomp, 3, 0, ctypes.create_string_buffer(6)))
      refuse("prctl", lambda: checked(_libc.prctl(22, 2, ctypes.byref(program), 0, 0)))
      def strict():
          pid = spawn(lambda: os._exit(_libc.prctl(22, 1, 0, 0, 0) & 0x7F))
          if os.waitpid(pid, 0)[1] != 0x7F00:
              return "strict mode"
          raise OSError(errno.EPERM, "refused")
      refuse("strict", strict)
    `,
  ),
  refused(
    'puts filters on sockets',
    py`
      import socket
      class Program(ctypes.Structure):
          _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
      program = bytes(Program(1, bytes.fromhex("06000000ffffffff")))
      for name, option in {"SO_ATTACH_FILTER": 26, "SO_ATTACH_BPF": 50, "SO_ATTACH_REUSEPORT_CBPF": 51, "SO_ATTACH_REUSEPORT_EBPF": 52,
                           "SO_DETACH_FILTER": 27, "SO_LOCK_FILTER": 44}.items():
          def attach():
              here, there = socket.socketpair()
              here.setsockopt(socket.SOL_SOCKET, option, program)
          refuse(name, attach)
          def attach_to_udp():
              with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                  client.setsockopt(socket.SOL_SOCKET, 15, 1)
                  client.setsockopt(socket.SOL_SOCKET, option, program)
          refuse(f"{name} on UDP", attach_to_udp)
    `,
  ),
  refused(
    'gives sockets another protocol, congestion control or memory',
    py`
      import socket
      options = {"TCP_ULP": (6, 31, b"tls"), "TCP_CONGESTION": (6, 13, b"reno"), "TCP_REPAIR": (6, 19, b"\1\0\0\0"),
                 "TCP_MD5SIG": (6, 14, bytes(216)), "TCP_FASTOPEN": (6, 23, b"\5\0\0\0"), "TCP_WINDOW_CLAMP": (6, 10, b"\0\0\1\0"),
                 "SO_RCVLOWAT": (1, 18, b"\0\0\1\0"), "SO_BUSY_POLL": (1, 46, bytes(4)), "SO_MARK": (1, 36, bytes(4)),
                 "SO_PEEK_OFF": (1, 42, bytes(4)), "SO_TXTIME": (1, 61, bytes(8)), "IP_OPTIONS": (0, 4, bytes(4)),
                 "IP_ADD_MEMBERSHIP": (0, 35, bytes([224, 0, 0, 9, 127, 0, 0, 1])), "IPT_SO_SET_REPLACE": (0, 64, bytes(96)),
                 "SOL_UDP": (17, 103, bytes(4)), "SOL_TLS": (282, 1, bytes(40))}
      for name, (level, option, value) in options.items():
          def ask():
              with socket.socket() as client:
                  client.setsockopt(level, option, value)
          refuse(name, ask)
    `,
  ),
  refused(
    'opens sockets of other protocols',
    py`
      import socket
      for name, protocol in {"icmp": 1, "mptcp": 262, "sctp": 132, "udplite": 136, "dccp": 33, "smc": 256}.items():
          for kind in (1, 2, 3, 4, 5, 6, 10):
              refuse(f"{name} {kind}", lambda: socket.socket(socket.AF_INET, kind, protocol).close())
      for kind in (3, 4, 6, 10):
          refuse(f"unix {kind}", lambda: socket.socketpair(socket.AF_UNIX, kind))
      refuse("a pair of tipc", lambda: syscall((53, 199)[_ARM], 30, 1, 0, (ctypes.c_int * 2)()))
    `,
  ),
  refused(
    "calls the host's sockets with one end of a pair",
    py`
      import socket
      for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
          def pair():
              return socket.socketpair(socket.AF_UNIX, kind)[0]
          for address in (context["unixPath"], "\0" + context["abstractName"], "/dev/log", "/run/systemd/notify"):
              # In the own namespace there are none; a stream is connected for good.
              away = (errno.ECONNREFUSED, errno.EISCONN, errno.EINVAL) if context["tier"] == "namespace" else ()
              hide(f"connect {kind} {address!r}", lambda: pair().connect(address)) if not away else refuse(
                  f"connect {kind} {address!r}", lambda: pair().connect(address), errno.ENOENT, *away)
          if kind == socket.SOCK_DGRAM:
              away = (errno.ENOENT, errno.ECONNREFUSED) if context["tier"] == "namespace" else ()
              refuse("send", lambda: pair().sendto(b"x", context["unixPath"]), *away)
          if context["tier"] == "landlock":
              refuse("bind", lambda: pair().bind("here.sock"))
    `,
  ),
];

/** Arguments that an allowed call must not have. */
const ARGUMENTS: Attack[] = [
  refused(
    'locks files that it can only read against programs of the host',
    py`
      import fcntl
      for path in (os.__file__, sys.executable, os.path.dirname(os.__file__), "/usr", "/etc/passwd", "/dev/null"):
          for kind in (fcntl.LOCK_SH, fcntl.LOCK_EX):
              def lock():
                  fd = os.open(path, os.O_RDONLY)
                  try:
                      fcntl.flock(fd, kind | fcntl.LOCK_NB)
                  finally:
                      os.close(fd)
              refuse(f"flock {path}", lock)
    `,
  ),
  refused(
    'drops files of the host from memory, so that others have to read them again',
    py`
      import pydoc
      fd = os.open(pydoc.__file__, os.O_RDONLY)
      os.pread(fd, 1 << 20, 0)
      os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
      try:
          os.preadv(fd, [bytearray(4096)], 65536, 8)  # RWF_NOWAIT: what is in memory only
      except BlockingIOError:
          breach("it is no longer in memory")
      except OSError:
          pass  # the file system does not tell
    `,
  ),
  refused(
    'gives orders about descriptors that nothing needs',
    py`
      import fcntl
      with open(os.__file__, "rb") as file:
          for name, command in {"F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15, "F_OFD_SETLK": 37, "F_SETLEASE": 1024, "F_GETLEASE": 1025,
                                "F_NOTIFY": 1026, "F_DUPFD_QUERY": 1027, "F_CREATED_QUERY": 1028, "F_SETPIPE_SZ": 1031,
                                "F_ADD_SEALS": 1033, "F_GET_SEALS": 1034, "F_SET_RW_HINT": 1036, "F_SET_FILE_RW_HINT": 1038,
                                "F_GETDELEG": 1039, "F_SETDELEG": 1040}.items():
              refuse(name, lambda: fcntl.fcntl(file, command, 0))
    `,
  ),
  refused(
    'gives orders to file systems, terminals and devices by ioctl',
    py`
      import fcntl
      requests = {"FIOASYNC": 0x5452, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D, "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCVHANGUP": 0x5437,
                  "FIFREEZE": 0xC0045877, "FITHAW": 0xC0045878, "FITRIM": 0xC0185879, "FS_IOC_FSGETXATTR": 0x801C581F,
                  "FS_IOC_ADD_ENCRYPTION_KEY": 0xC0506617, "FS_IOC_GETFSMAP": 0xC0C0583B, "FS_IOC_GETFSUUID": 0x80111500,
                  "FS_IOC_MEASURE_VERITY": 0xC0046686, "BLKGETSIZE64": 0x80081272, "NS_GET_PARENT": 0xB702, "NS_GET_USERNS": 0xB701,
                  "KVM_CREATE_VM": 0xAE01, "TUNSETIFF": 0x400454CA, "LOOP_CTL_GET_FREE": 0x4C82, "FIDEDUPERANGE": 0xC0189436,
                  "PIDFD_GET_INFO": 0xC040FF0B, "SIOCSIFFLAGS": 0x8914, "SIOCGSKNS": 0x894C, "EPIOCSPARAMS": 0x40088A01}
      for path in (os.__file__, ".", "/dev/null"):
          fd = os.open(path, os.O_RDONLY)
          for name, request in requests.items():
              refuse(f"{name} on {path}", lambda: fcntl.ioctl(fd, request, bytes(256)))
    `,
  ),
  refused(
    'gives orders about itself by prctl that nothing needs',
    py`
      options = {"SET_DUMPABLE": 4, "SET_UNALIGN": 6, "SET_KEEPCAPS": 8, "SET_TIMING": 14, "SET_SECCOMP": 22, "CAPBSET_DROP": 24, "SET_TSC": 26,
                 "SET_SECUREBITS": 28, "SET_TIMERSLACK": 29, "TASK_PERF_EVENTS_DISABLE": 31, "MCE_KILL": 33, "SET_MM": 35,
                 "SET_CHILD_SUBREAPER": 36, "SET_THP_DISABLE": 41, "CAP_AMBIENT": 47, "SET_SPECULATION_CTRL": 53,
                 "SET_TAGGED_ADDR_CTRL": 55, "SET_IO_FLUSHER": 57, "SET_SYSCALL_USER_DISPATCH": 59, "SCHED_CORE": 62, "SET_MDWE": 65,
                 "SET_MEMORY_MERGE": 67, "FUTEX_HASH": 78, "SET_VMA": 0x53564D41, "SET_PTRACER": 0x59616D61, "no option": 9999}
      for name, option in options.items():
          # Dumpable is what it is already.
          refuse(name, lambda: checked(_libc.prctl(option, int(name != "SET_DUMPABLE"), 0, 0, 0)))
    `,
  ),
  refused(
    'starts processes that belong to its supervisor, or share more than processes do',
    py`
      def start(flags):
          pid = syscall("clone", flags | 17, 0, 0, 0, 0)
          if pid == 0:
              os._exit(0)
          return pid
      # In a pid namespace of its own a double fork gives a process to the supervisor, too: it ends with the run.
      flags = {} if context["tier"] == "namespace" else {"parent": 0x8000}
      for name, flag in {**flags, "ptrace": 0x2000, "untraced": 0x800000, "io": 0x80000000}.items():
          refuse(name, lambda: start(flag))
    `,
  ),
  refused(
    'changes how the processor runs it',
    py`
      if not _ARM:
          for name, option in {"ARCH_SET_CPUID": 0x1012, "ARCH_GET_CPUID": 0x1011, "ARCH_MAP_VDSO_32": 0x2002, "ARCH_SHSTK_ENABLE": 0x5001,
                               "ARCH_ENABLE_TAGGED_ADDR": 0x4002}.items():
              refuse(name, lambda: syscall(158, option, 1) and name, errno.EINVAL)
    `,
  ),
  bomb({
    name: 'disk that is reserved between two looks',
    long: true,
    code: py`
      fallocate = (285, 47)[_ARM]
      try:
          for number in range(64):
              syscall(fallocate, os.open(f"file{number}", os.O_RDWR | os.O_CREAT), 0, 0, 15 << 20)
          print("BREACH" if context["tier"] == "landlock" else "reserved", flush=True)
      except OSError as error:
          print("refused" if error.errno == errno.EOPNOTSUPP else "full", flush=True)
    `,
    // Its own file system is the bound.
    expect: { verdict: 'disk-exceeded' },
    expectInLandlock: { verdict: 'ok', stdout: 'refused\n' },
  }),
  refused(
    'queues signals with values of its own',
    py`
      information = (ctypes.c_int * 32)(10, 0, -1)
      refuse("sigqueue", lambda: syscall((129, 138)[_ARM], os.getpid(), 10, information))
      refuse("sigqueue to a thread", lambda: syscall((297, 240)[_ARM], os.getpid(), os.getpid(), 10, information))
    `,
  ),
];

export const SYSTEM_CALLS: Attack[] = [...NOT_ON_THE_LIST, ...KEPT_PAGES, ...FILTERS, ...ARGUMENTS];
