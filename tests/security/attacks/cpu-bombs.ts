import { type Attack, bomb, py } from '../attack.js';

const cpuExceeded = { verdict: 'cpu-exceeded', details: { limitMs: 300 } } as const;

export const CPU_BOMBS: Attack[] = [
  bomb({
    name: 'CPU',
    code: 'while True: pass\n',
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU, ignoring SIGXCPU and every other signal',
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
    code: 'import re\nre.match(r"(a+)+$", "a" * 60 + "b")\n',
    limits: { cpuMs: 300 },
    expect: cpuExceeded,
  }),
  bomb({
    name: 'CPU in several processes',
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
];
