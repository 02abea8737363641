import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { printed, publicInterpreter, sharedPungi, temporaryFolder, verdictOf } from './pungi.js';

const python = await publicInterpreter();

/** What works in both tiers as in plain Python. */
const EVERYWHERE: [name: string, code: string][] = [
  [
    'shared memory of related processes',
    py`
      import mmap, os
      memory = mmap.mmap(-1, 16)
      if os.fork() == 0:
          memory[:5] = b"child"
          os._exit(0)
      os.wait()
      print(memory[:5], memory, type(memory), len(memory), isinstance(memory, mmap.mmap))
      memory.resize(8192)
      print(len(memory))
      with mmap.mmap(-1, 4096, access=mmap.ACCESS_WRITE) as other: print(other.write(b"x"), other.tell())
      try:
          mmap.mmap(-1, 0)
      except (OSError, ValueError) as error:
          print(repr(error))
    `,
  ],
  [
    'files in memory and sendfile',
    py`
      import os
      fd = os.memfd_create("name")
      print(os.write(fd, b"in memory"), os.pread(fd, 20, 0), os.get_inheritable(fd), os.fstat(fd).st_size)
      with open("target", "wb") as target:
          print(os.sendfile(target.fileno(), fd, 3, 100), os.lseek(fd, 0, os.SEEK_SET))
          print(os.sendfile(target.fileno(), fd, None, 2), os.lseek(fd, 0, os.SEEK_CUR))
      print(open("target", "rb").read())
    `,
  ],
  [
    'devices',
    py`
      import mmap, os, termios
      print(open("/dev/zero", "rb").read(4), len(open("/dev/urandom", "rb").read(8)), open("/dev/null").read())
      fd = os.open("/dev/zero", os.O_RDONLY)
      print(mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)[:3])
      try:
          with open("/dev/full", "w") as full: full.write("x")
      except OSError as error:
          print(error)
      try:
          open("/dev/tty")
      except OSError as error:
          print(error)
      with open("/dev/null") as nothing:
          try:
              termios.tcgetattr(nothing)
          except termios.error as error:
              print(error)
    `,
  ],
  [
    'files that are touched, and attributes of files that are missing',
    py`
      import os, pathlib, shutil
      pathlib.Path("new").touch()
      shutil.copy2("new", "copy")
      print(sorted(name for name in os.listdir() if name in ("new", "copy")))
      for change in (lambda: os.utime("missing", (1, 1)), lambda: os.chmod("missing", 0o600), lambda: os.setxattr("missing", "user.x", b"")):
          try:
              change()
          except OSError as error:
              print(type(error).__name__)
      print(os.utime in os.supports_fd, os.chmod in os.supports_dir_fd)
    `,
  ],
  [
    'locks on files',
    py`
      import fcntl, os, threading
      with open("lock", "w") as lock:
          fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
          with open("lock") as other:
              try:
                  fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
              except BlockingIOError as error:
                  print(repr(error))
          reading, writing = os.pipe()
          if os.fork() == 0:
              with open("lock") as other:
                  os.write(writing, b"waits ")
                  fcntl.flock(other, fcntl.LOCK_EX)
                  os.write(writing, b"has it")
                  os._exit(0)
          print(os.read(reading, 6))
          fcntl.flock(lock, fcntl.LOCK_UN)
          print(os.read(reading, 6), os.wait()[1])
      def share():
          with open("lock") as one, open("lock") as two:
              fcntl.flock(one, fcntl.LOCK_SH), fcntl.flock(two, fcntl.LOCK_SH)
              print("shared")
      thread = threading.Thread(target=share)
      thread.start(), thread.join()
      try:
          fcntl.flock(99, fcntl.LOCK_EX)
      except OSError as error:
          print(repr(error))
    `,
  ],
  [
    'figures of the machine, limits and priorities',
    py`
      import os, resource, signal
      print(len(os.getloadavg()), "MemTotal" in open("/proc/meminfo").read(), "processor" in open("/proc/cpuinfo").read())
      print(os.sched_getscheduler(0), len(os.sched_getaffinity(0)) == os.cpu_count(), os.getpriority(os.PRIO_PROCESS, 0))
      print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0, signal.setitimer(signal.ITIMER_REAL, 0))
      os.mkfifo("fifo")
      os.posix_fallocate(os.open("reserved", os.O_RDWR | os.O_CREAT), 0, 4096)
      print(os.stat("reserved").st_size)
    `,
  ],
];

const TERMINALS: [name: string, code: string][] = [
  [
    'a pair of ends',
    'import os, pty\na, b = pty.openpty()\nprint(os.write(b, b"to it\\n"), os.read(a, 20), os.isatty(b))',
  ],
  [
    'a program in a terminal of its own',
    py`
      import os, pty
      pid, fd = pty.fork()
      if pid == 0: os.execvp("sh", ["sh", "-c", "test -t 0 && stty size && echo terminal > /dev/tty; exit 3"])
      text = b""
      try:
          while data := os.read(fd, 1000): text += data
      except OSError:
          pass
      print(text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    `,
  ],
];

/** Prints what a script does outside, in a folder of its own. */
function plain(code: string): string {
  const cwd = temporaryFolder();
  chmodSync(cwd, 0o755);
  return execFileSync('setsid', ['--wait', python, '-c', code], { encoding: 'utf8', cwd });
}

describe.each(['namespace', 'landlock'])('in the %s tier', (tier) => {
  const pungi = sharedPungi({ PUNGI_TIER: tier, PUNGI_PYTHON: python });

  test.each(EVERYWHERE)('%s work as in plain Python', async (_, code) => {
    expect(await printed(pungi, { code })).toBe(plain(code));
  });

  test.runIf(tier === 'namespace').each(TERMINALS)('%s works as in plain Python', async (_, code) => {
    expect(await printed(pungi, { code })).toBe(plain(code));
  });

  test('shared memory beyond the disk limit is refused at once', async () => {
    const outcome = await pungi.run({ code: 'import mmap\nmmap.mmap(-1, 1 << 30)', limits: { diskMb: 32 } });
    verdictOf(outcome, 'disk-exceeded');
  });

  const HINTS: [code: string, hint: RegExp][] = [
    ['import os\nos.setuid(os.getuid())', /identity/],
    ['import ctypes, os\nraise OSError(38, "no such call")', /SECURITY\.md/],
    ...(tier === 'landlock'
      ? ([
          ['import pty\npty.openpty()', /no terminals/],
          ['open("/dev/shm/own", "w")', /\/dev\/shm/],
          ['import socket\nsocket.if_nameindex()', /no network/],
        ] as [string, RegExp][])
      : []),
  ];

  test.each(HINTS)('the hint to %j says what is refused', async (code, hint) => {
    expect(verdictOf(await pungi.run({ code }), 'python-error').exception.hint).toMatch(hint);
  });
});
