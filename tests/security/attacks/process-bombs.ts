import { type Attack, bomb, fixture, py } from '../attack.js';

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
];

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
];
