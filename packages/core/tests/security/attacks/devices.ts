import { type Attack, bomb, py, refused } from '../attack.js';

/** What the few devices of a run could hold, hide or reach. */
export const DEVICES: Attack[] = [
  refused(
    'takes memory from /dev/zero that no process shows',
    py`
      import mmap
      for flags in (os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_TRUNC):
          refuse(f"open {flags:o}", lambda: os.open("/dev/zero", flags))
      fd = os.open("/dev/zero", os.O_RDONLY)
      refuse("a shared mapping to write to", lambda: mmap.mmap(fd, 4096, flags=mmap.MAP_SHARED))
      _libc.mmap.restype = ctypes.c_void_p
      area = _libc.mmap(None, 4096, 1, 1, fd, 0)
      refuse("write later", lambda: checked(_libc.mprotect(ctypes.c_void_p(area), 4096, 3)))
      refuse("by its descriptor", lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR))
      refuse("shared without a file", lambda: checked(_libc.syscall(ctypes.c_long((9, 222)[_ARM]), None, ctypes.c_long(4096), 3, 0x21, -1, 0)))
    `,
  ),
  bomb({
    name: 'memory that its processes share, hidden by whoever touched it',
    // Nobody who is left has touched it, so no resident size shows it: it is disk.
    code: py`
      import mmap
      kept = []
      for _ in range(40):
          area = mmap.mmap(-1, 8 << 20)
          if os.fork() == 0:
              for at in range(0, len(area), 4096): area[at] = 1
              os._exit(0)
          os.wait()
          kept.append(area)
      print("BREACH")
    `,
    limits: { memoryMb: 64, diskMb: 32 },
    expect: { verdict: ['disk-exceeded', 'python-error'] },
  }),
  bomb({
    name: 'memory in files that only descriptors lead to',
    code: py`
      kept = [os.memfd_create(str(number)) for number in range(40)]
      for fd in kept:
          os.write(fd, bytes(8 << 20))
      time.sleep(1)
      print("BREACH")
    `,
    limits: { memoryMb: 64, diskMb: 32 },
    expect: { verdict: ['disk-exceeded', 'python-error'] },
  }),
  refused(
    'opens more terminals than it may have, and uses what exploits of terminals need',
    py`
      import fcntl
      kept = []
      try:
          while len(kept) < 100:
              kept.append(os.openpty())
      except OSError:
          pass
      if len(kept) > 16:
          breach(f"{len(kept)} terminals")
      hide("terminals of the host", lambda: os.stat("/dev/pts/99"))
      requests = {"TIOCSTI": 0x5412, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D, "TIOCLINUX": 0x541C, "TIOCVHANGUP": 0x5437,
                  "KDSKBSENT": 0x4B49, "TIOCSSERIAL": 0x541F, "TIOCSISO7816": 0xC0285443, "GSMIOC_SETCONF": 0x404C4701}
      for end in sum(kept[:1], ()):
          for name, request in requests.items():
              refuse(name, lambda: fcntl.ioctl(end, request, bytes(256)))
      if context["tier"] == "landlock" and kept:
          breach("a terminal of the host")
    `,
  ),
  {
    name: 'fills its terminals with what nobody reads',
    code: py`
      import tty
      held = 0
      try:
          while True:
              ends = os.openpty()
              tty.setraw(ends[1])
              for end in ends:
                  os.set_blocking(end, False)
                  try:
                      while True: held += os.write(end, bytes(65536))
                  except BlockingIOError:
                      pass
      except OSError:
          pass
      print("BREACH" if held > 24 << 20 else "within the limits")
    `,
    expect: { verdict: 'ok', stdout: 'within the limits\n' },
  },
  refused(
    'reads of its cgroup more than its limits, or changes them',
    py`
      for path in {line.rstrip("\n").split(":", 2)[2] for line in open("/proc/self/cgroup")}:
          folders = [f"/sys/fs/cgroup/{name}{path}".rstrip("/") for name in ("", "memory", "cpu", "pids", "unified")]
          for folder in {*folders, *map(os.path.dirname, folders), "/sys/fs/cgroup"}:
              hide(f"list {folder}", lambda: os.listdir(folder))
              for name in ("cgroup.procs", "tasks", "memory.stat", "memory.current", "memory.usage_in_bytes", "cgroup.events"):
                  hide(f"read {folder}/{name}", lambda: read(f"{folder}/{name}"))
              for name in ("cgroup.procs", "memory.max", "memory.limit_in_bytes", "pids.max", "cpu.max", "cpu.cfs_quota_us"):
                  hide(f"write {folder}/{name}", lambda: write(f"{folder}/{name}", b"max"))
    `,
  ),
];
