import { type Attack, bomb, py, refused } from '../attack.js';

/** Gives the code `apart(action)`: a thread whose descriptors are its own, which the entry of its process in /proc does not list. */
const APART = py`
  import threading
  def apart(action):
      def thread():
          refused = _libc.syscall(ctypes.c_long(436), ctypes.c_long(1 << 20), ctypes.c_long(1 << 20), ctypes.c_long(2))
          print("refused" if refused else "BREACH descriptors of its own")
          if not refused: action()
      worker = threading.Thread(target=thread)
      worker.start()
      worker.join()
`;

/** Gives the code `headless(action)`: goes on in another thread when the first one has ended. /proc then shows no memory and no files. */
const HEADLESS = py`
  import threading
  def headless(action):
      def thread():
          time.sleep(0.1)
          action()
      threading.Thread(target=thread).start()
      _libc.syscall(ctypes.c_long((60, 93)[_ARM]), ctypes.c_long(0))
  def breach_later():
      time.sleep(1)
      os.write(1, b"BREACH\n")
      os._exit(0)
`;

const memoryExceeded = { verdict: 'memory-exceeded' } as const;

/** Using what no entry of /proc shows. */
export const HIDDEN: Attack[] = [
  bomb({
    name: 'disk in deleted files that only one thread has open',
    code: `${APART}\n${py`
      kept = []
      def fill():
          for _ in range(40):
              kept.append(os.open("gone", os.O_RDWR | os.O_CREAT))
              os.unlink("gone")
              for _ in range(7): os.write(kept[-1], bytes(1 << 20))
              time.sleep(0.02)
      apart(fill)
    `}`,
    limits: { diskMb: 8 },
    expect: { verdict: 'ok', stdout: 'refused\n' },
  }),
  refused(
    'starts a thread with descriptors of its own',
    py`
      stack = ctypes.create_string_buffer(1 << 16)
      top = ctypes.c_void_p((ctypes.addressof(stack) + (1 << 16)) & ~15)
      pause = ctypes.cast(_libc.pause, ctypes.c_void_p)
      thread, shared = 0x10000 | 0x800 | 0x100, 0x400 | 0x200
      refuse("no descriptors in common", lambda: checked(_libc.clone(pause, top, thread, None)))
      refuse("not even the folder", lambda: checked(_libc.clone(pause, top, thread | 0x200, None)))
      for flags in (1, 2, 2 | 4, 1 << 31):
          refuse(f"close_range {flags}", lambda: syscall(436, 1 << 20, 1 << 20, flags), errno.EINVAL)
      for flags in (0, 4):
          syscall(436, 1 << 20, 1 << 20, flags)
    `,
  ),
  bomb({
    name: 'memory of a process whose first thread has ended',
    code: `${HEADLESS}\n${py`
      def fill():
          kept = bytearray(b"x") * (400 << 20)
          breach_later()
      headless(fill)
    `}`,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory of several processes whose first threads have ended, each in a session of its own',
    code: `${HEADLESS}\n${py`
      def fill():
          kept = bytearray(b"x") * (200 << 20)
          breach_later()
      def child():
          os.setsid()
          spawn(lambda: headless(fill))
      for _ in range(4): os.waitpid(spawn(child), 0)
      time.sleep(4)
    `}`,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'files, watches and locks of a process whose first thread has ended',
    code: `${HEADLESS}\n${py`
      def fill():
          kept = []
          for _ in range(30):
              kept.append(os.open("gone", os.O_RDWR | os.O_CREAT))
              os.unlink("gone")
              for _ in range(7): os.write(kept[-1], bytes(1 << 20))
              time.sleep(0.02)
          breach_later()
      headless(fill)
    `}`,
    limits: { diskMb: 8 },
    expect: { verdict: ['memory-exceeded', 'disk-exceeded'] },
  }),
  bomb({
    name: 'CPU of a process whose first thread has ended',
    code: `${HEADLESS}\n${py`
      def burn():
          until = time.monotonic() + 5
          while time.monotonic() < until: pass
          os.write(1, b"BREACH\n")
      headless(burn)
    `}`,
    limits: { cpuMs: 500 },
    expect: { verdict: ['memory-exceeded', 'cpu-exceeded'] },
  }),
  {
    name: 'ends many threads and processes at once, which looks the same for a moment',
    long: true,
    code: py`
      import threading
      def child():
          for _ in range(12): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
          kept = bytearray(b"x") * (20 << 20)
          os._exit(0)
      for _ in range(25): os.waitpid(spawn(child), 0)
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n' },
  },
  bomb({
    name: 'memory of a child that keeps its parent from running',
    code: py`
      stack = ctypes.create_string_buffer(1 << 20)
      top = ctypes.c_void_p((ctypes.addressof(stack) + (1 << 20)) & ~15)
      @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
      def child(_):
          kept = bytearray(b"x") * (400 << 20)
          time.sleep(1)
          os.write(1, b"BREACH\n")
          return 0
      ctypes.PyDLL(None).clone(child, top, 0x100 | 0x4000 | 17, None)  # CLONE_VM, CLONE_VFORK
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  {
    name: 'waits for a child that never ends and keeps its parent from running',
    code: py`
      stack = ctypes.create_string_buffer(1 << 16)
      top = ctypes.c_void_p((ctypes.addressof(stack) + (1 << 16)) & ~15)
      print("before", end="", flush=True)
      _libc.clone(ctypes.cast(_libc.pause, ctypes.c_void_p), top, 0x100 | 0x4000 | 17, None)
    `,
    limits: { timeoutMs: 600 },
    expect: { verdict: 'timed-out', stdout: 'before' },
  },
  bomb({
    name: 'memory in a stack that grows, which no limit on data counts',
    code: py`
      _libc.mmap.restype = ctypes.c_void_p
      size = 6 << 30
      area = _libc.mmap(None, ctypes.c_size_t(size), 3, 0x122, -1, ctypes.c_long(0))  # MAP_GROWSDOWN
      _libc.madvise(ctypes.c_void_p(area), ctypes.c_size_t(size), 23)  # MADV_POPULATE_WRITE
      time.sleep(1)
      print("BREACH")
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory by single bytes in huge pages',
    code: py`
      import mmap
      area = mmap.mmap(-1, 800 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
      try:
          area.madvise(mmap.MADV_HUGEPAGE)
      except OSError:
          pass
      for at in range(0, len(area), 4096): area[at] = 1
      time.sleep(1)
      print("BREACH")
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  refused(
    "has a core dumped, which the host's own program would take with the host's rights",
    py`
      import resource
      # At 0 the kernel still starts a program that takes cores; at 1 it does not.
      if resource.getrlimit(resource.RLIMIT_CORE) != (1, 1): breach("cores")
      for change in (lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20)), lambda: resource.setrlimit(resource.RLIMIT_CORE, (1, 1 << 20))):
          try:
              change()
              breach("more")
          except ValueError:
              pass
      hide("what is in it", lambda: write("/proc/self/coredump_filter", b"ff"))
    `,
  ),
];
