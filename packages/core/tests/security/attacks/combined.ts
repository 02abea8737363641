import { type Attack, bomb, fixture, py } from '../attack.js';

/** Goes on in a grandchild that has left the session and whose parent has ended. */
const AWAY = py`
  def away(action):
      def child():
          os.setsid()
          spawn(lambda: (signal.alarm(8), action()))
      os.waitpid(spawn(child), 0)
`;
const limits = { memoryMb: 64, diskMb: 8, processes: 16, cpuMs: 1500 };
const anyLimit = {
  verdict: ['memory-exceeded', 'disk-exceeded', 'cpu-exceeded', 'processes-exceeded', 'output-exceeded'],
} as const;

/** Several limits at once, and limits that are passed at the moments when a run begins or ends. */
export const COMBINED: Attack[] = [
  bomb({
    name: 'memory, disk, processes, CPU and output at once, each by a process of its own',
    code: `${AWAY}\n${py`
      def write_files():
          for number in range(300): write(f"file{number}", bytes(1 << 20))
      def burn():
          while True: pass
      def print_much():
          while True: os.write(2, b"x" * 65536)
      away(lambda: [bytearray(b"x") * (16 << 20) for _ in range(40)])
      away(write_files)
      away(burn)
      away(print_much)
      for _ in range(40): away(signal.pause)
      time.sleep(3)
      print("BREACH")
    `}`,
    limits,
    expect: { verdict: [...anyLimit.verdict, 'python-error'] },
  }),
  bomb({
    name: 'memory in exit handlers and in __del__, when the script is over',
    code: py`
      import atexit
      class Late:
          def __del__(self, fill=lambda: bytearray(b"x") * (400 << 20), sleep=time.sleep, write=os.write):
              kept = fill()
              sleep(1)
              write(1, b"BREACH\n")
      late = Late()
      late.itself = late
      atexit.register(lambda: (bytearray(b"x") * (50 << 20)))
    `,
    limits,
    expect: { verdict: 'memory-exceeded' },
  }),
  bomb({
    name: 'disk and processes in exit handlers',
    code: `${AWAY}\n${py`
      import atexit
      def end():
          for _ in range(40): away(signal.pause)
          for number in range(60): write(f"file{number}", bytes(1 << 20))
      atexit.register(end)
    `}`,
    limits,
    expect: { verdict: ['disk-exceeded', 'processes-exceeded'] },
  }),
  bomb({
    name: 'memory in a thread while the script has ended and waits for it',
    code: py`
      import threading
      def fill():
          time.sleep(0.1)
          kept = bytearray(b"x") * (400 << 20)
          time.sleep(1)
          os.write(1, b"BREACH\n")
      threading.Thread(target=fill).start()
    `,
    limits,
    expect: { verdict: 'memory-exceeded' },
  }),
  bomb({
    name: 'forks and fills the disk in the moment that is left for its last words',
    long: true,
    code: `${AWAY}\n${py`
      def last(*_):
          for _ in range(6): away(lambda: [write(f"f{os.getpid()}.{number}", bytes(1 << 20)) for number in range(50)])
          os.write(1, b"still here\n")
          while True: os.write(1, b"x" * 65536)
      signal.signal(signal.SIGRTMAX, last)
      print("waits", flush=True)
      time.sleep(30)
    `}`,
    limits: { ...limits, timeoutMs: 600, outputHardBytes: 1 << 20 },
    expect: { verdict: 'timed-out', stdout: /^waits\n/ },
  }),
  bomb({
    name: 'takes the memory in the moment that is left for its last words',
    code: py`
      def last(*_):
          kept = bytearray(b"x") * (900 << 20)
          time.sleep(5)
          os.write(1, b"BREACH\n")
      signal.signal(signal.SIGRTMAX, last)
      time.sleep(30)
    `,
    limits: { ...limits, timeoutMs: 600 },
    expect: { verdict: ['timed-out', 'memory-exceeded'] },
  }),
  {
    name: 'never lets the signal for its last words through, in many threads',
    long: true,
    code: py`
      import threading
      signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMAX})
      for _ in range(8): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
      print("waits", flush=True)
      time.sleep(30)
    `,
    limits: { timeoutMs: 600 },
    expect: { verdict: 'timed-out', stdout: 'waits\n' },
  },
  {
    name: 'sends itself the signal for its last words, again and again',
    code: py`
      print("text without an end", end="")
      for _ in range(20): os.kill(os.getpid(), signal.SIGRTMAX)
    `,
    expect: { verdict: ['exited', 'killed', 'ok'] },
  },
  {
    name: 'is cancelled while a hundred processes start and end',
    code: py`
      def child():
          for _ in range(40): os.waitpid(spawn(lambda: None), 0)
      while True:
          for pid in [spawn(child) for _ in range(8)]: os.waitpid(pid, 0)
    `,
    limits: { processes: 64 },
    cancelAfterMs: 500,
    harmful: true,
    expect: { verdict: ['cancelled', 'cpu-exceeded'] },
  },
  bomb({
    name: 'passes the CPU limit in a stopped and continued grandchild',
    long: true,
    code: `${AWAY}\n${py`
      def burn():
          while True: pass
      def toggle():
          pid = spawn(burn)
          while True:
              time.sleep(0.009)
              os.kill(pid, signal.SIGSTOP)
              time.sleep(0.001)
              os.kill(pid, signal.SIGCONT)
      away(toggle)
      time.sleep(5)
      print("BREACH")
    `}`,
    limits: { cpuMs: 500 },
    expect: { verdict: 'cpu-exceeded' },
  }),
  bomb({
    name: 'watches and locks, each below the limit, together above it',
    long: true,
    code: `${fixture('many_watches.py')}\n${fixture('many_locks.py')}\n${py`
      def locks():
          lock_many([os.open(f"file{os.getpid()}.{number}", os.O_RDWR | os.O_CREAT) for number in range(100)])
      def both():
          locks()
          return watch_many(20_000)
      hold(both, 4)
    `}`,
    limits: { memoryMb: 64, openFiles: 256, cpuMs: 20_000, timeoutMs: 20_000 },
    expect: { verdict: 'memory-exceeded' },
  }),
  {
    name: 'text of children that write after the script has ended',
    code: py`
      def child():
          os.setsid()
          time.sleep(0.05)
          while True: os.write(1, b"\xff\x1b[2J\x00late")
      spawn(child)
      os.write(1, b"done\n")
    `,
    harmful: true,
    expect: { verdict: ['ok', 'output-exceeded'], stdout: /^done\n/ },
  },
  {
    name: 'both streams byte by byte, with escapes and halves of characters',
    code: py`
      for byte in ("é€😀\x1b[31m\x00\r" * 300).encode() + b"\xff\xf0\x9f":
          os.write(1, bytes([byte]))
          os.write(2, bytes([byte]))
    `,
    expect: {
      verdict: 'ok',
      also: ({ stdout, stderr }) =>
        stdout.text === stderr.text && stdout.text.isWellFormed() ? undefined : 'the streams differ',
    },
  },
];
