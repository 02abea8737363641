import { type Attack, bomb, py, refused } from '../attack.js';

/** Each takes about four times the limit if nobody stops it. A call that the filter refuses ends it as well. */
const counted = { verdict: ['memory-exceeded', 'python-error'] } as const;
const limits = { memoryMb: 64, diskMb: 8, openFiles: 1024, cpuMs: 20_000, timeoutMs: 20_000 };

/** Memory of the kernel that no process shows. A cgroup counts it. */
export const UNSEEN_MEMORY: Attack[] = [
  bomb({
    name: 'memory in unix connections that nobody accepts',
    code: py`
      import socket
      server = socket.socket(socket.AF_UNIX)
      server.bind("\\0unaccepted")
      server.listen(4096)
      for _ in range(1200):
          client = socket.socket(socket.AF_UNIX)
          client.setblocking(False)
          client.connect("\\0unaccepted")
          try:
              while client.send(b"x" * 65536): pass
          except BlockingIOError:
              client.close()
      print("BREACH")
    `,
    limits,
    expect: counted,
  }),
  bomb({
    name: 'memory in datagrams whose senders are closed',
    code: py`
      import socket
      receivers = []
      for number in range(300):
          receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
          receiver.bind(f"\\0datagrams-{number}")
          receivers.append(receiver)
          for _ in range(10):
              sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
              sender.setblocking(False)
              try:
                  for _ in range(3):
                      sender.sendto(b"x" * 100_000, f"\\0datagrams-{number}")
              except BlockingIOError:
                  pass
              sender.close()
      print("BREACH")
    `,
    limits,
    expect: counted,
  }),
  bomb({
    name: 'memory in epoll watches',
    code: py`
      import select
      def fill():
          pipes = [os.pipe() for _ in range(60)]
          polls = [select.epoll() for _ in range(120)]
          for poll in polls:
              for source, sink in pipes:
                  poll.register(source, 0)
                  poll.register(sink, 0)
          time.sleep(8)
      for _ in range(80):
          spawn(fill)
      time.sleep(8)
      print("BREACH")
    `,
    limits: { ...limits, processes: 100 },
    expect: counted,
  }),
  bomb({
    name: 'memory in timers',
    code: py`
      _libc.timer_create.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
      identity = ctypes.c_void_p()
      for _ in range(1_000_000):
          if _libc.timer_create(0, None, ctypes.byref(identity)) != 0:
              raise OSError(ctypes.get_errno(), "timer_create")
      print("BREACH")
    `,
    limits,
    expect: counted,
  }),
];

/** What a cgroup makes exact. */
export const EXACT_LIMITS: Attack[] = [
  bomb({
    name: 'forks until the kernel refuses',
    code: py`
      children = 0
      try:
          while children < 200:
              pid = os.fork()
              if pid == 0:
                  time.sleep(8)
                  os._exit(0)
              children += 1
      except BlockingIOError:
          os.write(1, b"%d children\n" % children)
      time.sleep(8)
    `,
    limits: { processes: 24 },
    expect: { verdict: 'processes-exceeded', stdout: /^(23 children\n)?$/ },
  }),
  bomb({
    name: 'threads until the kernel refuses, and a good end at once',
    code: py`
      import threading
      started = 0
      try:
          while started < 200:
              threading.Thread(target=time.sleep, args=(8,), daemon=True).start()
              started += 1
      except RuntimeError:
          os.write(1, b"%d threads\n" % started)
      os._exit(0)
    `,
    limits: { processes: 24 },
    expect: { verdict: 'processes-exceeded', stdout: '23 threads\n' },
  }),
  bomb({
    name: 'CPU in children of 2 ms that nobody waits for',
    code: py`
      signal.signal(signal.SIGCHLD, signal.SIG_IGN)
      for _ in range(1000):
          if os.fork() == 0:
              end = time.process_time() + 0.002
              while time.process_time() < end: pass
              os._exit(0)
          time.sleep(0.003)
      print("BREACH")
    `,
    limits: { cpuMs: 300 },
    expect: {
      verdict: 'cpu-exceeded',
      also: ({ usage }) => (usage.cpuMs < 300 || usage.cpuMs > 450 ? `${usage.cpuMs} ms of CPU` : undefined),
    },
  }),
  bomb({
    name: 'CPU in children that nobody waits for, and a good end before anybody looks',
    code: py`
      signal.signal(signal.SIGCHLD, signal.SIG_IGN)
      ended, alive = os.pipe()
      for _ in range(5):
          if os.fork() == 0:
              end = time.process_time() + 0.04
              while time.process_time() < end: pass
              os._exit(0)
      os.close(alive)
      os.read(ended, 1)
    `,
    limits: { cpuMs: 100 },
    expect: { verdict: 'cpu-exceeded' },
  }),
  refused(
    'looks for the cgroup file system',
    py`
      for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/proc/1/root/sys/fs/cgroup", "/proc/self/root/sys/fs/cgroup"):
          hide(path, lambda: os.listdir(path))
      for name in os.listdir("/proc/self/fd"):
          if "cgroup" in os.path.realpath(f"/proc/self/fd/{name}"): breach(name)
      for kind in (b"cgroup", b"cgroup2"):
          refuse(kind, lambda: syscall("mount", b"none", b"/tmp", kind, 0, b"memory"))
      refuse("a namespace of its own", lambda: syscall("unshare", 0x02000000))
    `,
    { limits: {} },
  ),
];
