import { type Attack, bomb, py, refused } from '../attack.js';

const withinOrEnded = { verdict: ['ok', 'memory-exceeded'], stdout: /^(within the limits.*\n)?$/ } as const;

/** Kernel objects in numbers and states that no ordinary program has them in. */
export const KERNEL_EXTREMES: Attack[] = [
  bomb({
    name: 'answers of netlink that nobody reads',
    code: py`
      import socket, struct
      kept, sent = [], 0
      try:
          for _ in range(900):
              end = socket.socket(16, socket.SOCK_RAW, 0)
              end.setblocking(False)
              for kind in (18, 22, 26, 30, 66, 80):
                  end.send(struct.pack("=IHHII", 32, kind, 0x301, sent, 0) + bytes(16))
                  sent += 1
              kept.append(end)
      except OSError:
          pass
      time.sleep(0.3)
      print("BREACH" if len(kept) > 600 else "within the limits", len(kept))
    `,
    limits: { memoryMb: 64, openFiles: 1024 },
    expect: withinOrEnded,
  }),
  bomb({
    name: 'errors of datagrams that nobody asks for',
    code: py`
      import socket
      kept = []
      try:
          for _ in range(300):
              end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
              end.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR
              end.setblocking(False)
              for _ in range(300):
                  try:
                      end.sendto(b"x" * 60_000, ("127.0.0.1", 9))
                  except OSError:
                      pass
              kept.append(end)
      except OSError:
          pass
      print("BREACH" if len(kept) > 200 else "within the limits", len(kept))
    `,
    limits: { memoryMb: 64, openFiles: 1024, cpuMs: 10_000 },
    expect: withinOrEnded,
  }),
  bomb({
    name: 'urgent bytes, in sockets of both kinds',
    code: py`
      import socket
      kept = []
      try:
          server = socket.create_server(("127.0.0.1", 0), backlog=128)
          for _ in range(400):
              client = socket.create_connection(server.getsockname())
              accepted = server.accept()[0]
              client.setblocking(False)
              try:
                  for _ in range(2000): client.send(b"x", socket.MSG_OOB)
              except BlockingIOError:
                  pass
              kept.append((client, accepted))
      except OSError:
          pass
      for _ in range(40):
          here, there = socket.socketpair()
          here.setblocking(False)
          try:
              for _ in range(2000): here.send(b"x", socket.MSG_OOB)
          except OSError:
              pass
          kept.append((here, there))
      print("BREACH" if len(kept) > 300 else "within the limits", len(kept))
    `,
    limits: { memoryMb: 64, openFiles: 1024, cpuMs: 10_000 },
    expect: withinOrEnded,
  }),
  bomb({
    name: 'connections to themselves, and those that begin at both ends',
    code: py`
      import socket
      kept = []
      try:
          for number in range(400):
              end = socket.socket()
              end.bind(("127.0.0.1", 20_000 + number))
              end.connect(("127.0.0.1", 20_000 + number))
              end.setblocking(False)
              try:
                  while end.send(b"x" * 65536): pass
              except BlockingIOError:
                  pass
              kept.append(end)
      except OSError:
          pass
      time.sleep(0.3)
      print("BREACH" if len(kept) > 300 else "within the limits", len(kept))
    `,
    limits: { memoryMb: 64, openFiles: 1024, cpuMs: 10_000 },
    expect: withinOrEnded,
  }),
  bomb({
    name: 'data with the first packet of connections that nobody answers',
    code: py`
      import socket
      kept = []
      try:
          server = socket.socket()
          server.bind(("127.0.0.1", 0))
          server.listen(0)
          for _ in range(600):
              end = socket.socket()
              end.setblocking(False)
              try:
                  end.sendto(b"x" * 60_000, 0x20000000, server.getsockname())  # MSG_FASTOPEN
              except BlockingIOError:
                  pass
              kept.append(end)
      except OSError:
          pass
      time.sleep(0.3)
      print("BREACH" if len(kept) > 400 else "within the limits", len(kept))
    `,
    limits: { memoryMb: 64, openFiles: 1024, cpuMs: 10_000 },
    expect: withinOrEnded,
  }),
  {
    name: 'timers, counters and processes as descriptors, as many as there may be, in many processes',
    long: true,
    code: py`
      import select
      def child():
          kept = []
          try:
              while True:
                  timer = syscall((283, 85)[_ARM], 1, 0)
                  _libc.timerfd_settime(timer, 0, (ctypes.c_long * 4)(0, 1, 0, 1), None)
                  kept += [timer, os.eventfd(0) if hasattr(os, "eventfd") else timer, os.pidfd_open(os.getpid())]
          except OSError:
              pass
          time.sleep(0.5)
      children = [spawn(child) for _ in range(20)]
      for pid in children: os.waitpid(pid, 0)
      print("done")
    `,
    expect: { verdict: ['ok', 'memory-exceeded', 'cpu-exceeded'] },
  },
  {
    name: 'sets of watches that watch each other',
    code: py`
      import select
      sets = [select.epoll() for _ in range(60)]
      here, there = os.pipe()
      for one in sets:
          for other in (*sets, here):
              try:
                  one.register(other, select.EPOLLIN)
              except OSError:
                  pass
      os.write(there, b"x")
      for each in sets: each.poll(0)
      print("done")
    `,
    expect: { verdict: ['ok', 'cpu-exceeded'] },
  },
  {
    name: 'a list of locks for the kernel to walk at the end that has no end',
    code: py`
      import threading
      def thread():
          head = (ctypes.c_long * 3)()
          head[0] = ctypes.addressof(head) + 24
          ring = (ctypes.c_long * 4)()
          head[0] = ring[0] = ctypes.addressof(ring)
          _libc.syscall(ctypes.c_long((273, 99)[_ARM]), head, ctypes.c_long(24))
          kept.append((head, ring))
      kept = []
      threads = [threading.Thread(target=thread) for _ in range(20)]
      for each in threads: each.start()
      for each in threads: each.join()
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n' },
  },
  bomb({
    name: 'memory beside many processes that compute',
    long: true,
    code: py`
      def burn():
          until = time.monotonic() + 5
          while time.monotonic() < until: pass
      for _ in range(30): spawn(burn)
      kept = bytearray(b"x") * (1000 << 20)
      print("BREACH")
    `,
    limits: { memoryMb: 128, processes: 64, cpuMs: 60_000 },
    // On a busy machine it has not come so far when its time is over.
    expect: {
      verdict: ['memory-exceeded', 'timed-out'],
      also: ({ usage }) => (usage.peakMemoryMb < 600 ? undefined : `${usage.peakMemoryMb} MB were held`),
    },
  }),
  bomb({
    name: 'memory by moving and doubling what is mapped',
    code: py`
      _libc.mmap.restype = _libc.mremap.restype = ctypes.c_void_p
      size = 4 << 20
      area = _libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, ctypes.c_long(0))
      while size < 2 << 30:
          ctypes.memset(area, 1, size)
          area = _libc.mremap(ctypes.c_void_p(area), ctypes.c_size_t(size), ctypes.c_size_t(2 * size), 1)
          size *= 2
          # MREMAP_DONTUNMAP: what was there stays mapped, without its pages.
          _libc.mremap(ctypes.c_void_p(area), ctypes.c_size_t(size // 2), ctypes.c_size_t(size // 2), 5, None)
      print("BREACH")
    `,
    limits: { memoryMb: 64 },
    expect: { verdict: ['memory-exceeded', 'killed'] },
  }),
  bomb({
    name: 'memory of the arguments of programs that start each other',
    long: true,
    code: py`
      def child():
          while True:
              os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(2)", *["x" * 100_000] * 15], {})
      children = [spawn(child) for _ in range(24)]
      for pid in children: os.waitpid(pid, 0)
      print("within the limits")
    `,
    limits: { memoryMb: 64 },
    expect: { verdict: ['memory-exceeded', 'ok'] },
  }),
  refused(
    'stops, wakes and asks about its supervisor, and the template of its workers',
    py`
      for pid in {1, os.getppid(), *neighbours()}:
          for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT, signal.SIGUSR1, signal.SIGRTMAX, 0):
              refuse(f"signal {number}", lambda: os.kill(pid, number))
              try:
                  handle = os.pidfd_open(pid)
              except OSError:
                  continue
              refuse(f"signal {number} by its handle", lambda: signal.pidfd_send_signal(handle, number), errno.ESRCH)
          for name in ("mem", "environ", "maps", "fd/0", "root/etc/passwd", "cwd/x", "stack", "syscall", "io", "auxv"):
              hide(f"its {name}", lambda: read(f"/proc/{pid}/{name}"))
          refuse("its limits", lambda: checked(_libc.prlimit(pid, 7, None, (ctypes.c_long * 2)())))
          refuse("its processors", lambda: os.sched_setaffinity(pid, {0}))
          refuse("its priority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    `,
  ),
  refused(
    'changes what the kernel does with its own processes',
    py`
      for name, data in (("oom_score_adj", b"-1000"), ("oom_adj", b"-17"), ("clear_refs", b"5"), ("coredump_filter", b"ff"), ("timerslack_ns", b"0"),
                         ("autogroup", b"-20"), ("make-it-fail", b"1"), ("comm", b"x"), ("attr/current", b"x"), ("loginuid", b"0"),
                         ("uid_map", b"0 0 1"), ("setgroups", b"allow"), ("sched", b"0"), ("mem", b"x")):
          if context["tier"] == "namespace" or name != "comm":
              hide(name, lambda: write(f"/proc/self/{name}", data))
      for option in (4, 8, 13, 25, 28, 29, 35, 40, 41, 43, 47, 53, 55, 59, 62, 65, 67, 70, 72, 0x53564d41, 0x59616d61):
          refuse(f"prctl {option}", lambda: checked(_libc.prctl(option, int(option != 4), 1, 0, 0)), errno.EINVAL)
      for flags in (0x0040000, 0x0400000, 0x4000000, 0x8000000, 8):
          refuse(f"personality {flags:x}", lambda: checked(_libc.personality(ctypes.c_ulong(flags))))
    `,
  ),
];
