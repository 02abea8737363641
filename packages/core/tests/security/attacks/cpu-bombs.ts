import { type Attack, bomb, py } from '../attack.js';

const cpuExceeded = { verdict: 'cpu-exceeded', details: { limitMs: 300 } } as const;

const SHORT_LIVES = py`
  def spin(seconds):
      end = time.process_time() + seconds
      while time.process_time() < end: pass
  def live_shortly(children, seconds):
      for _ in range(children):
          try:
              spawn(lambda: spin(seconds))
          except BlockingIOError:
              pass
          time.sleep(seconds / 4)
      print("BREACH", children * seconds, "seconds of CPU went unseen")
`;

/** Children that nobody waits for pile up on a busy machine; the row is about their CPU time. */
const MAY_PILE_UP = { cpuMs: 500, timeoutMs: 15_000, processes: 500 };

export const CPU_BOMBS: Attack[] = [
  bomb({
    name: 'CPU',
    code: 'while True: pass\n',
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU, ignoring SIGXCPU and every other signal',
    long: true,
    code: py`
      for number in range(1, 65):
          try:
              signal.signal(number, signal.SIG_IGN)
          except (OSError, ValueError):
              pass
      while True: pass
    `,
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU inside one call of C',
    long: true,
    code: 'import re\nre.match(r"(a+)+$", "a" * 60 + "b")\n',
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU in several processes',
    long: true,
    code: py`
      def spin():
          signal.alarm(8)
          while True: pass
      for _ in range(4):
          spawn(spin)
      time.sleep(5)
    `,
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU in threads',
    code: py`
      import hashlib, threading
      data = b"x" * (1 << 20)
      def spin():
          while True:
              hashlib.sha256(data).digest()
      for _ in range(4):
          threading.Thread(target=spin, daemon=True).start()
      time.sleep(5)
    `,
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU in short children, one after the other',
    long: true,
    code: py`
      def spin():
          end = time.process_time() + 0.05
          while time.process_time() < end: pass
      for _ in range(60):
          os.waitpid(spawn(spin), 0)
      print("BREACH")
    `,
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU in short children that nobody waits for',
    long: true,
    // With SIGCHLD ignored the kernel adds a child's time to nobody.
    code: py`
      signal.signal(signal.SIGCHLD, signal.SIG_IGN)
      def spin():
          end = time.process_time() + 0.05
          while time.process_time() < end: pass
      for _ in range(40):
          spawn(spin)
          time.sleep(0.055)
      print("BREACH two seconds of CPU went unseen")
    `,
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU in children of two milliseconds that nobody waits for',
    long: true,
    code: `signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n${SHORT_LIVES}\nlive_shortly(2500, 0.002)\n`,
    limits: MAY_PILE_UP,
    expect: { verdict: 'cpu-exceeded' },
  }),
  bomb({
    name: 'CPU in children of eight milliseconds that nobody waits for',
    long: true,
    code: `signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n${SHORT_LIVES}\nlive_shortly(700, 0.008)\n`,
    limits: MAY_PILE_UP,
    expect: { verdict: 'cpu-exceeded' },
  }),
  bomb({
    name: 'CPU in short children whose parent asked not to be told',
    long: true,
    code: `${SHORT_LIVES}\n${py`
      class Action(ctypes.Structure):
          _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_byte * 128), ("flags", ctypes.c_int), ("r", ctypes.c_void_p)]
      _libc.sigaction(signal.SIGCHLD, ctypes.byref(Action(flags=2)), None)  # SA_NOCLDWAIT
      live_shortly(2500, 0.002)
    `}`,
    limits: MAY_PILE_UP,
    expect: { verdict: 'cpu-exceeded' },
  }),
  bomb({
    name: 'CPU in short orphans',
    long: true,
    code: `${SHORT_LIVES}\n${py`
      def orphan():
          if os.fork() == 0:
              spin(0.002)
      for _ in range(2000):
          os.waitpid(spawn(orphan), 0)
      print("BREACH")
    `}`,
    limits: { cpuMs: 500, timeoutMs: 15_000 },
    expect: { verdict: 'cpu-exceeded' },
  }),
  bomb({
    name: 'CPU in short orphans, each in a session of its own',
    code: `${SHORT_LIVES}\n${py`
      def orphan():
          os.setsid()
          if os.fork() == 0:
              os.setsid()
              spin(0.004)
      for _ in range(1500):
          os.waitpid(spawn(orphan), 0)
      print("BREACH")
    `}`,
    limits: { cpuMs: 500, timeoutMs: 15_000 },
    expect: { verdict: 'cpu-exceeded' },
  }),
  {
    name: 'CPU of children that were waited for counts once',
    long: true,
    code: `${SHORT_LIVES}\n${py`
      children = [spawn(lambda: spin(0.4)) for _ in range(2)]
      for child in children:
          os.waitpid(child, 0)
      time.sleep(0.2)
      print("fine")
    `}`,
    limits: { cpuMs: 1400, timeoutMs: 15_000 },
    expect: { verdict: 'ok', stdout: 'fine\n' },
  },
];
