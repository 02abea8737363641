import { type Attack, bomb, py } from '../attack.js';

const diskExceeded = { verdict: 'disk-exceeded', details: { limitMb: 8 } } as const;

export const DISK_BOMBS: Attack[] = [
  bomb({
    name: 'disk: one file',
    code: py`
      with open("big", "wb", buffering=0) as file:
          for _ in range(256):
              file.write(b"x" * (1 << 20))
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: many files',
    code: py`
      for number in range(256):
          write(f"file{number}", b"x" * (1 << 20))
          time.sleep(0.005)
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: deleted files that stay open',
    code: py`
      files = []
      for number in range(64):
          files.append(open("gone", "wb", buffering=0))
          os.remove("gone")
          files[-1].write(b"x" * (4 << 20))
          time.sleep(0.02)
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: files behind a closed folder',
    code: py`
      os.mkdir("closed")
      files = [open(f"closed/{number}", "wb", buffering=0) for number in range(64)]
      os.chmod("closed", 0)
      for file in files:
          file.write(b"x" * (4 << 20))
          time.sleep(0.02)
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: files deeper than a path can be long',
    code: py`
      for _ in range(30):
          os.mkdir("d" * 200)
          os.chdir("d" * 200)
      for number in range(64):
          write(f"file{number}", b"x" * (4 << 20))
          time.sleep(0.02)
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: reserved',
    code: py`
      fd = os.open("reserved", os.O_CREAT | os.O_RDWR)
      for number in range(64):
          os.posix_fallocate(fd, number << 22, 4 << 20)
          time.sleep(0.02)
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  bomb({
    name: 'disk: ignoring every error and SIGXFSZ',
    code: py`
      signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
      for number in range(400):
          try:
              write(f"file{number}", b"x" * (1 << 20))
          except OSError:
              pass
          time.sleep(0.005)
      used = sum(entry.stat().st_blocks * 512 for entry in os.scandir("."))
      print("BREACH" if used > 24 << 20 else "stayed within", flush=True)
      os._exit(0)
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  bomb({
    name: 'inodes: a hundred thousand empty files',
    code: py`
      for number in range(100_000):
          os.close(os.open(f"f{number}", os.O_CREAT | os.O_WRONLY))
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: { verdict: 'disk-exceeded' },
  }),
  bomb({
    name: 'inodes: folders and links',
    code: py`
      for number in range(50_000):
          os.mkdir(f"d{number}")
          os.symlink("x" * 50, f"l{number}")
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: { verdict: 'disk-exceeded' },
  }),
  bomb({
    name: 'disk: files that are mapped, deleted and closed',
    code: py`
      import mmap
      for number in range(6):
          fd = os.open("gone", os.O_RDWR | os.O_CREAT)
          os.write(fd, b"x" * (7 << 20))
          _libc.mmap(None, ctypes.c_size_t(4096), 3, 1, fd, ctypes.c_long(0))
          os.remove("gone")
          os.close(fd)
      time.sleep(1)
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: diskExceeded,
  }),
  {
    name: 'disk: an error that only says there is no space',
    code: 'raise OSError(errno.ENOSPC, "as the kernel says it of epoll watches")\n',
    expect: { verdict: 'python-error', exception: 'OSError' },
  },
  {
    name: 'disk: an error that only says a file is too large',
    code: 'raise OSError(errno.EFBIG, "too large")\n',
    expect: { verdict: 'python-error', exception: 'OSError' },
  },
  {
    name: 'disk: an error that only says a quota is used up',
    code: 'raise OSError(errno.EDQUOT, "quota")\n',
    expect: { verdict: 'python-error', exception: 'OSError' },
  },
];
