import { type Attack, bomb, py } from '../attack.js';

const RENAMED = py`
  _libc.renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
  def exchange(one, other):
      _libc.renameat2(-100, one, -100, other, 2)
  def forever(action):
      """Does so in a child until the run ends."""
      def child():
          signal.alarm(6)
          while True: action()
      return spawn(child)
`;
const limits = { diskMb: 8, cpuMs: 20_000 };
const diskExceeded = { verdict: 'disk-exceeded' } as const;

/** Files that are not where they were a moment ago, or are no files, while somebody counts them. */
export const MOVING_FILES: Attack[] = [
  bomb({
    name: 'disk: behind names that change while the folder is read',
    // Whoever reads the folder comes to the large files last, and misses a name before.
    code: `${RENAMED}\n${py`
      names = [f"{number:03}" for number in range(400)]
      for name in names: write(name, b"")
      candidates = [f"large{number}" for number in range(400)]
      for name in candidates: write(name, b"")
      order = os.listdir()
      last = [name for name in order[len(order) // 2:] if name.startswith("large")] or candidates
      for name in set(candidates) - set(last): os.unlink(name)
      first = [name for name in order[:len(order) // 2] if not name.startswith("large")]
      def hop():
          for name in first: os.rename(name, "x" + name)
          for name in first: os.rename("x" + name, name)
      forever(hop)
      for name in last[:32]:
          write(name, bytes(1 << 20))
          time.sleep(0.04)
      print("BREACH")
    `}`,
    limits,
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: in folders that are moved from one place to another',
    code: `${RENAMED}\n${py`
      for name in ("a", "b", *(f"between{number}" for number in range(400))): os.mkdir(name)
      os.mkdir("a/full")
      def move():
          os.rename("a/full", "b/full")
          os.rename("b/full", "a/full")
      forever(move)
      for number in range(60):
          for _ in range(50):
              try:
                  write(f"{'ab'[number % 2]}/full/{number}", bytes(1 << 20))
                  break
              except FileNotFoundError:
                  continue
          time.sleep(0.02)
      time.sleep(1)
      used = sum(os.stat(os.path.join(folder, name)).st_blocks * 512 for folder, _, names in os.walk(".") for name in names)
      print("BREACH" if used > 24 << 20 else "little", used)
    `}`,
    limits,
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: in folders that change places with links',
    long: true,
    code: `${RENAMED}\n${py`
      for number in range(8):
          os.mkdir(f"full{number}")
          os.symlink(context["bait"], f"link{number}")
      def change_places():
          for number in range(8): exchange(f"full{number}".encode(), f"link{number}".encode())
      forever(change_places)
      for number in range(60):
          for name in (f"full{number % 8}", f"link{number % 8}"):
              try:
                  write(f"{name}/{number}", bytes(1 << 20))
                  break
              except OSError:
                  continue
          time.sleep(0.03)
      time.sleep(1)
      print("BREACH")
    `}`,
    limits,
    expect: diskExceeded,
  }),
  bomb({
    name: 'puts links to the host in the place of folders while they are looked at',
    code: `${RENAMED}\n${py`
      for number in range(200): os.mkdir(f"folder{number}")
      targets = [context["temporaryFolder"], context["bait"], *context["secretFolders"], "/", "/etc", "/proc"]
      for number, target in enumerate(targets * 4): os.symlink(target, f"link{number}")
      pairs = [(f"folder{number}".encode(), f"link{number}".encode()) for number in range(len(targets) * 4)]
      until = time.monotonic() + 1.5
      while time.monotonic() < until:
          for one, other in pairs: exchange(one, other)
      print("done")
    `}`,
    limits,
    expect: { verdict: 'ok', stdout: 'done\n' },
  }),
  bomb({
    name: 'puts pipes, sockets and terminals in the place of folders while they are looked at',
    long: true,
    code: `${RENAMED}\n${py`
      for number in range(100):
          os.mkdir(f"folder{number}")
          os.mkfifo(f"pipe{number}")
      pairs = [(f"folder{number}".encode(), f"pipe{number}".encode()) for number in range(100)]
      until = time.monotonic() + 1.5
      while time.monotonic() < until:
          for one, other in pairs: exchange(one, other)
      print("done")
    `}`,
    limits,
    expect: { verdict: 'ok', stdout: 'done\n' },
  }),
  bomb({
    name: 'disk: holes that are filled through memory',
    long: true,
    code: py`
      import mmap
      kept = []
      for number in range(40):
          fd = os.open(f"hole{number}", os.O_RDWR | os.O_CREAT)
          os.ftruncate(fd, 7 << 20)
          area = mmap.mmap(fd, 7 << 20)
          for at in range(0, 7 << 20, 4096): area[at] = 1
          kept.append(area)
          os.close(fd)
          time.sleep(0.02)
      print("BREACH")
    `,
    limits,
    // Without space behind it a page of a mapping cannot be written: SIGBUS.
    expect: { verdict: ['disk-exceeded', 'killed'] },
  }),
  bomb({
    name: 'disk: long names, links and hard links',
    code: py`
      open("file", "w").close()
      made = 0
      try:
          for number in range(20_000):
              name = f"{number:06}" + "n" * 240
              os.link("file", name)
              os.symlink("t" * 4000, "s" + name)
              made += 2
      except OSError as error:
          print(errno.errorcode[error.errno], flush=True)
      time.sleep(0.5)
      print("BREACH" if made > 10_000 else "bounded")
    `,
    limits,
    expect: { verdict: ['disk-exceeded', 'ok'] },
  }),
  bomb({
    name: 'disk: copies that the kernel makes by itself',
    code: py`
      write("source", bytes(7 << 20))
      source = os.open("source", os.O_RDONLY)
      for number in range(60):
          target = os.open(f"copy{number}", os.O_WRONLY | os.O_CREAT)
          os.copy_file_range(source, target, 7 << 20, 0, 0)
          os.close(target)
      time.sleep(0.5)
      print("BREACH")
    `,
    limits,
    expect: diskExceeded,
  }),
  {
    name: 'leaves pipes, holes and folders that are in use by nobody',
    code: py`
      os.mkfifo("pipe")
      os.open("pipe", os.O_RDWR)
      with open("hole", "wb") as file: file.truncate(7 << 20)
      for _ in range(200):
          os.mkdir("d")
          os.chdir("d")
      os.symlink("/", "root")
      deep = os.getcwd()
      spawn(lambda: time.sleep(20))
      print("done")
    `,
    limits: { diskMb: 8 },
    expect: { verdict: 'ok', stdout: 'done\n' },
  },
];
