import { type Attack, bomb, py, refused } from '../attack.js';

/** Gives the code `changes(path)`, calls that change a file, and `untouched(label)`: whether those of the host are as before. */
const LOOK = py`
  import threading
  hosts = [context["baitFile"], context["bait"], context["temporaryFolder"], sys.executable, os.path.dirname(os.getcwd())]
  hosts = [path for path in hosts if os.path.exists(path)]
  def state(path):
      seen = os.stat(path)
      try:
          names = os.listxattr(path)
      except OSError:
          names = None
      return seen.st_mode, seen.st_uid, seen.st_gid, names, seen.st_mtime_ns
  before = {path: state(path) for path in hosts if path != context["temporaryFolder"]}
  def untouched(label):
      for path in before:
          if state(path)[:4] != before[path][:4] or state(path)[4] == 10**9: breach(f"{label} {path}")
  def changes(path, **options):
      tries = [lambda: os.chmod(path, 0o741, **options), lambda: os.utime(path, (1, 1), **options),
               lambda: os.chown(path, os.getuid(), os.getgid(), **options)]
      if not options:
          tries += [lambda: os.setxattr(path, "user.pungi", b"1"), lambda: os.removexattr(path, "user.other")]
      for change in tries:
          try:
              change()
          except OSError:
              pass
`;

/** In the landlock tier somebody outside changes modes and times for a run: of its own files, and of no other. */
export const FILE_ATTRIBUTES: Attack[] = [
  refused(
    'changes host files by every way that leads to them',
    `${LOOK}\n${py`
      own = os.getcwd()
      for number, path in enumerate(hosts):
          os.chdir(own)
          os.symlink(path, f"link{number}")
          os.symlink(f"link{number}", f"again{number}")
          os.symlink(os.path.dirname(path), f"folder{number}")
          ways = [path, f"link{number}", f"again{number}", f"folder{number}/{os.path.basename(path)}",
                  os.path.relpath(path), f"{own}/../..{'/..' * own.count('/')}{path}", f"/proc/self/root{path}", f"/proc/self/cwd/link{number}",
                  f"/proc/{os.getpid()}/cwd/link{number}", f"/proc/{os.getppid()}/root{path}", f"/proc/thread-self/root{path}", f"{path}/."]
          for way in ways: changes(way)
          for flags in (os.O_RDONLY, os.O_PATH):
              try:
                  fd = os.open(path, flags)
              except OSError:
                  continue
              for way in (fd, f"/proc/self/fd/{fd}", f"/dev/fd/{fd}", f"/proc/{os.getpid()}/fd/{fd}"): changes(way)
              try:
                  syscall(452, fd, b"", 0o741, 0x1000)
              except OSError:
                  pass
              os.close(fd)
          try:
              folder = os.open(os.path.dirname(path), os.O_PATH)
              changes(os.path.basename(path), dir_fd=folder)
              os.fchdir(folder)
              changes(os.path.basename(path))
          except OSError:
              pass
          os.chdir(own)
          try:
              os.link(path, f"hard{number}")
              changes(f"hard{number}")
          except OSError:
              pass
          untouched("changed")
    `}`,
    { harmful: true },
  ),
  refused(
    'exchanges links and folders while its files are changed',
    `${LOOK}\n${py`
      for path in ("work/deep", "other"): os.makedirs(path)
      for path in ("work/deep/file.txt", "mine"): open(path, "w").close()
      os.symlink(context["bait"], "way-out")
      os.symlink(os.path.abspath("mine"), "link")
      ends = time.monotonic() + 1.5
      def exchange_link():
          while time.monotonic() < ends:
              for target in (context["baitFile"], os.path.abspath("mine")):
                  os.symlink(target, "new")
                  os.replace("new", "link")
      def exchange_folder():
          while time.monotonic() < ends:
              os.rename("work/deep", "aside"); os.rename("way-out", "work/deep")
              os.rename("work/deep", "way-out"); os.rename("aside", "work/deep")
      threads = [threading.Thread(target=work) for work in (exchange_link, exchange_folder)]
      for thread in threads: thread.start()
      while time.monotonic() < ends:
          changes("link")
          changes("work/deep/file.txt")
          changes("work/deep")
      for thread in threads: thread.join()
      untouched("exchanged")
    `}`,
    { harmful: true },
  ),
  refused(
    'writes another path while its own is read',
    `${LOOK}\n${py`
      import ctypes
      own, foreign = os.path.abspath("m").encode(), context["baitFile"].encode()
      open(own, "w").close()
      text, ends = ctypes.create_string_buffer(4096), time.monotonic() + 1.5
      def write():
          while time.monotonic() < ends:
              ctypes.memmove(text, own + b"\0", len(own) + 1)
              ctypes.memmove(text, foreign + b"\0", len(foreign) + 1)
      threads = [threading.Thread(target=write) for _ in range(2)]
      for thread in threads: thread.start()
      libc = ctypes.CDLL(None)
      while time.monotonic() < ends: libc.chmod(text, 0o741)
      for thread in threads: thread.join()
      untouched("written")
    `}`,
    { harmful: true, long: true },
  ),
  refused(
    'exchanges the descriptor while its file is changed',
    `${LOOK}\n${py`
      own, foreign = os.open("own", os.O_RDWR | os.O_CREAT), os.open(sys.executable, os.O_RDONLY)
      target, ends = os.dup(own), time.monotonic() + 1.5
      def exchange():
          while time.monotonic() < ends:
              os.dup2(foreign, target)
              os.dup2(own, target)
      threads = [threading.Thread(target=exchange) for _ in range(3)]
      for thread in threads: thread.start()
      while time.monotonic() < ends: changes(target)
      for thread in threads: thread.join()
      untouched("exchanged")
    `}`,
    { harmful: true, long: true },
  ),
  {
    name: 'asks for changes by pointers to nothing and names that never end',
    code: py`
      import ctypes, errno, mmap
      libc = ctypes.CDLL(None, use_errno=True)
      def errno_of(call, *arguments):
          ctypes.set_errno(0)
          return errno.errorcode.get(ctypes.get_errno(), "none") if getattr(libc, call)(*arguments) < 0 else "ok"
      open("mine", "w").close()
      at, path = ctypes.c_int(-100), ctypes.c_char_p(b"mine")
      pointers = [ctypes.c_void_p(place) for place in (0, 1, 1 << 46, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)]
      print({errno_of("chmod", pointer, 0o600) for pointer in pointers})
      print({errno_of("utimensat", at, path, pointer, 0) for pointer in pointers[1:]})
      room = mmap.mmap(-1, 8192, flags=mmap.MAP_PRIVATE)
      room.write(b"a" * 8192)
      start = ctypes.addressof(ctypes.c_char.from_buffer(room))
      print(errno_of("chmod", ctypes.c_void_p(start), 0o600), errno_of("chmod", ctypes.c_char_p(b"n" * 300), 0o600))
      print(errno_of("chmod", ctypes.c_char_p(b""), 0o600), errno_of("fchmod", 99, 0o600), errno_of("fchmod", -1, 0o600))
      print(errno_of("utimensat", at, path, None, 0x8000), errno_of("chmod", ctypes.c_char_p(b"mine/"), 0o600))
      os.mkfifo("fifo")
      print(errno_of("chmod", ctypes.c_char_p(b"fifo"), 0o600), errno_of("utimensat", at, ctypes.c_char_p(b"fifo"), None, 0))
      os.symlink("round", "round")
      print(errno_of("chmod", ctypes.c_char_p(b"round"), 0o600), errno_of("fchownat", at, ctypes.c_char_p(b"round"), -1, -1, 0x100))
    `,
    expect: {
      verdict: 'ok',
      stdout:
        "{'EFAULT'}\n{'EFAULT'}\nENAMETOOLONG ENAMETOOLONG\nENOENT EBADF EBADF\nEINVAL ENOTDIR\nok ok\nELOOP ok\n",
    },
  },
  {
    name: 'closes its folders to those who must remove them',
    code: py`
      import tempfile
      os.makedirs("a/b/c")
      open("a/b/c/file", "w").close()
      for path in ("a/b/c", "a/b", "a", os.getcwd(), tempfile.gettempdir()):
          for mode in (0o000, 0o111, 0o6000):
              os.chmod(path, mode)
      print("closed")
    `,
    harmful: true,
    expect: { verdict: 'ok', stdout: 'closed\n' },
  },
  refused(
    'gives its files rights that outlast it on the host',
    py`
      import stat
      open("tool", "w").close()
      os.mkdir("folder")
      for path in ("tool", "folder"):
          for bit in (0o4000, 0o2000, 0o1000):
              os.chmod(path, bit | 0o777)
              if context["tier"] == "landlock" and stat.S_IMODE(os.stat(path).st_mode) & 0o7000:
                  breach(f"{path} has {bit:o}")
      for uid, gid in ((0, -1), (-1, 0), (os.getuid() + 1, -1), (-1, os.getgid() + 1)):
          for call in (os.chown, os.lchown): refuse(f"chown {uid} {gid}", lambda: call("tool", uid, gid), errno.EINVAL)
      # The folder around all of its own is closed to others, and not its own.
      if context["tier"] == "landlock":
          above = os.path.dirname(os.getcwd())
          for folder in (above, os.path.dirname(above)): refuse(f"open {folder}", lambda: os.chmod(folder, 0o777))
          if os.stat(above).st_mode & 0o077: breach("others can enter")
    `,
  ),
  refused(
    'gives its files capabilities and access lists',
    py`
      open("tool", "w").close()
      entry = bytes.fromhex("0200000001000700ffffffff04000700ffffffff20000700ffffffff")
      capability = bytes.fromhex("0100000200200000000000000000000000000000")
      if context["tier"] == "landlock":
          for name, value in (("system.posix_acl_access", entry), ("security.capability", capability), ("trusted.x", b"x"), ("security.x", b"x")):
              refuse(name, lambda: os.setxattr("tool", name, value))
              refuse(f"remove {name}", lambda: os.removexattr("tool", name))
              if name in os.listxattr("tool"): breach(name)
    `,
  ),
  {
    name: 'hides data in attributes of its files',
    code: py`
      open("own", "w").close()
      kept = 0
      for number in range(64):
          try:
              os.setxattr("own", f"user.{number}", b"x" * 4000)
              kept += 4000
          except OSError:
              pass
          try:
              os.setxattr("own", "user.large", b"x" * 60_000)
              kept += 60_000
          except OSError:
              pass
      print("bounded" if kept <= 4096 or context["tier"] == "namespace" else kept)
    `,
    expect: { verdict: 'ok', stdout: 'bounded\n' },
  },
  bomb({
    name: 'lets the supervisor work for it: changes without end',
    long: true,
    code: py`
      import threading
      open("own", "w").close()
      def change():
          while True: os.chmod("own", 0o600)
      for _ in range(4): threading.Thread(target=change).start()
    `,
    limits: { cpuMs: 1000, timeoutMs: 12_000 },
    expect: { verdict: 'cpu-exceeded' },
  }),
  bomb({
    name: 'grows while many of its threads ask for changes',
    code: py`
      import threading
      long = "/".join(["n" * 200] * 19)
      def change():
          while True:
              try:
                  os.chmod(long, 0o600)
              except OSError:
                  pass
      for _ in range(8): threading.Thread(target=change, daemon=True).start()
      kept = []
      for _ in range(16):
          kept.append(bytearray(b"x") * (32 << 20))
          time.sleep(0.02)
      print("BREACH")
    `,
    limits: { memoryMb: 96, cpuMs: 20_000, timeoutMs: 15_000 },
    expect: { verdict: 'memory-exceeded' },
    bystander: true,
  }),
];
