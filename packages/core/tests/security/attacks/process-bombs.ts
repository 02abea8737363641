import { type Attack, bomb, fixture, py } from '../attack.js';

/** Makes a child of its own parent (CLONE_PARENT), which the landlock tier refuses. */
const SIBLING = py`
  def sibling():
      return _libc.syscall(_CALLS["clone"][_ARM], 0x8011, 0, 0, 0, 0)
`;

export const PROCESS_BOMBS: Attack[] = [
  bomb({
    name: 'fork bomb',
    code: fixture('fork_bomb.py'),
    limits: { processes: 24 },
    expect: { verdict: 'processes-exceeded', details: { limit: 24 } },
  }),
  bomb({
    name: 'fork bomb beside another run',
    code: fixture('fork_bomb.py'),
    limits: { processes: 24 },
    victim: true,
    expect: { verdict: 'processes-exceeded' },
  }),
  bomb({
    name: 'thread bomb',
    code: py`
      import threading
      for _ in range(1000):
          threading.Thread(target=time.sleep, args=(8,), daemon=True).start()
      print("BREACH a thousand threads")
      os._exit(0)
    `,
    limits: { processes: 24 },
    expect: { verdict: 'processes-exceeded' },
  }),
  bomb({
    name: 'thread bomb that takes no for an answer',
    code: py`
      import threading
      deadline = time.time() + 4
      started = 0
      while time.time() < deadline and started < 1000:
          try:
              threading.Thread(target=time.sleep, args=(8,), daemon=True).start()
              started += 1
          except RuntimeError:
              time.sleep(0.01)
      print("BREACH", started)
      os._exit(0)
    `,
    limits: { processes: 24, timeoutMs: 1500 },
    expect: { verdict: ['processes-exceeded', 'timed-out'] },
  }),
  bomb({
    name: 'processes, slowly, each in a session of its own',
    long: true,
    code: py`
      def sleeper():
          os.setsid()
          signal.alarm(8)
          time.sleep(8)
      for _ in range(100):
          spawn(sleeper)
          time.sleep(0.02)
      print("BREACH a hundred processes")
    `,
    limits: { processes: 24 },
    expect: { verdict: 'processes-exceeded' },
  }),
  bomb({
    name: 'children without end for the supervisor to collect',
    long: true,
    code: `${SIBLING}\n${py`
      until = time.monotonic() + 1
      while time.monotonic() < until:
          if sibling() == 0: os._exit(0)
      print("ended")
    `}`,
    limits: { processes: 24 },
    bystander: true,
    expect: { verdict: ['ok', 'processes-exceeded'], stdout: /^(ended\n)?$/ },
  }),
  bomb({
    name: 'children of the supervisor, of which each makes the next one and ends',
    code: `${SIBLING}\n${py`
      for _ in range(4):
          if sibling() == 0:
              until = time.monotonic() + 8
              while sibling() <= 0 and time.monotonic() < until: pass
              os._exit(0)
      print("ended")
    `}`,
    limits: { processes: 24 },
    victim: true,
    expect: { verdict: ['ok', 'processes-exceeded'], stdout: /^(ended\n)?$/ },
  }),
];

const TIMERS = py`
  class Event(ctypes.Structure):
      _fields_ = [("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_byte * 48)]
  def make_timers(most):
      event, timer, made = Event(notify=1), ctypes.c_void_p(), 0
      while made < most and _libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer)) == 0:
          made += 1
      return made
  def judged(made):
      return "within the limits" if made <= 3000 else f"BREACH {made}"
`;

/** What the kernel counts for a user and not for a run: one run must not use up another's share. */
export const SHARED_BOMBS: Attack[] = [
  bomb({
    name: 'uses up the processes of other runs',
    code: py`
      def sleeper():
          signal.alarm(8)
          time.sleep(8)
      for _ in range(80):
          spawn(sleeper)
      time.sleep(1)
      print("held")
    `,
    limits: { processes: 100, memoryMb: 400 },
    bystander: true,
    expect: { verdict: 'ok', stdout: 'held\n' },
  }),
  bomb({
    name: 'uses up the pipes of other runs',
    code: py`
      import fcntl
      # The kernel gives a user 16384 pages of pipes; whoever comes after that gets two pages for each.
      pipes = []
      for _ in range(110):
          pipes.append(os.pipe())
          try:
              fcntl.fcntl(pipes[-1][0], 1031, 1 << 20)  # F_SETPIPE_SZ
          except OSError:
              pass
      time.sleep(1)
      print("held")
    `,
    limits: { openFiles: 256 },
    bystander: true,
    expect: { verdict: 'ok', stdout: 'held\n' },
  }),
  bomb({
    name: 'uses up the inotify instances and timers of other runs',
    long: true,
    code: py`
      import signal
      try:
          for _ in range(100):
              syscall("inotify_init1", 0)
      except OSError:
          pass
      time.sleep(1)
      print("held")
    `,
    bystander: true,
    expect: { verdict: 'ok', stdout: 'held\n' },
  }),
  bomb({
    name: 'uses up the timers of a user',
    code: `${TIMERS}\nprint(judged(make_timers(8000)))\n`,
    expect: { verdict: 'ok', stdout: 'within the limits\n' },
  }),
  bomb({
    name: 'uses up the timers of a user, in several processes',
    code: `${TIMERS}\n${py`
      counts, count = os.pipe()
      for _ in range(6):
          if os.fork() == 0:
              os.write(count, b"%d\n" % make_timers(3000))
              signal.pause()
      total = 0
      for _ in range(6):
          total += int(b"".join(iter(lambda: os.read(counts, 1), b"\n")))
      print(judged(total))
    `}`,
    expect: { verdict: 'ok', stdout: 'within the limits\n' },
  }),
  bomb({
    name: 'uses up the queued signals of a user',
    code: `${TIMERS}\n${py`
      signal.pthread_sigmask(signal.SIG_BLOCK, [40])
      _libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
      made = 0
      while made < 8000 and _libc.sigqueue(os.getpid(), 40, None) == 0:
          made += 1
      print(judged(made))
    `}`,
    expect: { verdict: 'ok', stdout: 'within the limits\n' },
  }),
  // Both prove that 1,100 pipes, where a run may have 256, are found while they are held, which is for four seconds.
  bomb({
    name: 'holds pipes in many processes',
    code: 'hold(lambda: [os.pipe() for _ in range(100)], 11)\n',
    limits: { openFiles: 256, memoryMb: 512 },
    expect: { verdict: 'memory-exceeded' },
  }),
  bomb({
    name: 'holds pipes in many processes, made at once after they were looked at',
    long: true,
    code: 'hold(lambda: [time.sleep(0.5), [os.pipe() for _ in range(100)]], 11)\n',
    limits: { openFiles: 256, memoryMb: 512 },
    expect: { verdict: 'memory-exceeded' },
  }),
  bomb({
    name: 'keeps descriptors on their way between sockets',
    code: py`
      import socket
      kept = []
      try:
          for _ in range(20):
              kept.append(socket.socketpair())
              for _ in range(5):
                  socket.send_fds(kept[-1][0], [b"x"], [0, 1])
      except OSError:
          print("within the limits")
          os._exit(0)
      time.sleep(2)
      print("BREACH 200 descriptors in flight")
    `,
    limits: { openFiles: 256 },
    expect: { verdict: 'memory-exceeded' },
    expectInLandlock: { verdict: 'ok', stdout: 'within the limits\n' },
  }),
];
