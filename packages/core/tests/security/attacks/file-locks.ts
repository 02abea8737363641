import { type Attack, bomb, py, refused } from '../attack.js';

/** Gives the code `is_locked(fd)`: whether the open file has a lock. */
const LOOK = py`
  import fcntl, threading
  def is_locked(fd):
      return "lock:" in open(f"/proc/self/fdinfo/{fd}").read() if context["tier"] == "namespace" else False
  hosts = [path for path in ("/usr/bin/env", sys.executable, os.__file__, context["baitFile"]) if os.access(path, os.R_OK)]
`;

/** The supervisor takes locks for a run: on files of its own, and on no other. */
export const FILE_LOCKS: Attack[] = [
  refused(
    'locks files of the host',
    `${LOOK}\n${py`
      for path in (*hosts, "/", "/usr", "/dev/null", "/etc/ld.so.cache"):
          try:
              fd = os.open(path, os.O_RDONLY)
          except OSError:
              continue
          for operation in (fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_EX | fcntl.LOCK_NB):
              refuse(f"lock {path}", lambda: fcntl.flock(fd, operation))
          if is_locked(fd): breach(f"{path} is locked")
    `}`,
  ),
  refused(
    'exchanges the file while it asks for a lock',
    `${LOOK}\n${py`
      own, foreign = os.open("own", os.O_RDWR | os.O_CREAT), os.open(hosts[0], os.O_RDONLY)
      target, ends = os.dup(own), time.monotonic() + 1.5
      def exchange():
          while time.monotonic() < ends:
              os.dup2(foreign, target)
              os.dup2(own, target)
      threads = [threading.Thread(target=exchange) for _ in range(3)]
      for thread in threads: thread.start()
      while time.monotonic() < ends:
          try:
              fcntl.flock(target, fcntl.LOCK_EX | fcntl.LOCK_NB)
          except OSError:
              pass
          if is_locked(foreign): breach("the host's file is locked")
      for thread in threads: thread.join()
    `}`,
  ),
  refused(
    'answers for its supervisor, or takes descriptors itself',
    py`
      import fcntl
      for fd in range(3, 4096):
          try:
              fcntl.ioctl(fd, 0xC0182101, bytes(24))
              breach(f"descriptor {fd} answers")
          except OSError:
              pass
      refuse("take a descriptor", lambda: syscall("pidfd_getfd", os.pidfd_open(os.getpid()), 1, 0))
    `,
  ),
  {
    name: 'waits for locks in processes that it kills, and keeps its supervisor busy',
    code: py`
      import fcntl
      held = open("lock", "w")
      fcntl.flock(held, fcntl.LOCK_EX)
      def wait():
          with open("lock") as again: fcntl.flock(again, fcntl.LOCK_EX)
      for _ in range(6):
          children = [spawn(wait) for _ in range(8)]
          time.sleep(0.01)
          for child in children:
              os.kill(child, signal.SIGKILL)
              os.waitpid(child, 0)
      for _ in range(200):
          fcntl.flock(held, fcntl.LOCK_UN)
          fcntl.flock(held, fcntl.LOCK_EX)
      print("still locks")
    `,
    expect: { verdict: 'ok', stdout: 'still locks\n' },
  },
  {
    name: 'waits for a lock without end',
    code: py`
      import fcntl
      one, two = open("lock", "w"), open("lock", "w")
      fcntl.flock(one, fcntl.LOCK_EX)
      fcntl.flock(two, fcntl.LOCK_EX)
    `,
    limits: { timeoutMs: 800 },
    expect: { verdict: 'timed-out' },
  },
  bomb({
    name: 'lets the supervisor work for it: locks without end',
    long: true,
    code: py`
      import fcntl
      file = open("own", "w")
      while True:
          fcntl.flock(file, fcntl.LOCK_EX)
    `,
    limits: { cpuMs: 1000, timeoutMs: 12_000 },
    expect: { verdict: 'cpu-exceeded' },
  }),
];
