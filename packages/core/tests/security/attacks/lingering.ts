import type { Outcome } from '../../../src/contract/outcome.js';
import { type Attack, fixture, py } from '../attack.js';

const timedOut = { verdict: 'timed-out', details: { limitMs: 500 } } as const;
const brief = { timeoutMs: 500 };

const endedWithin = (ms: number) => (outcome: Outcome) =>
  outcome.usage.wallMs < ms ? undefined : `took ${outcome.usage.wallMs} ms`;

/** Refusing to end. The reply comes at the deadline whatever is still alive, and then nothing is. */
export const LINGERING: Attack[] = [
  {
    name: 'sleeps beyond the deadline',
    code: 'import time\nprint("before", flush=True)\ntime.sleep(60)\n',
    bare: true,
    limits: brief,
    expect: { ...timedOut, stdout: 'before\n' },
  },
  {
    name: 'ignores and blocks every signal',
    code: py`
      for number in range(1, 65):
          try:
              signal.signal(number, signal.SIG_IGN)
          except (OSError, ValueError):
              pass
      signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
      while True:
          time.sleep(1)
    `,
    limits: brief,
    expect: timedOut,
  },
  {
    name: 'catches every exception and goes on',
    code: py`
      while True:
          try:
              time.sleep(60)
          except BaseException:
              pass
    `,
    limits: brief,
    expect: timedOut,
  },
  {
    name: 'is cancelled while it ignores signals',
    code: py`
      for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
          signal.signal(number, signal.SIG_IGN)
      print("started", flush=True)
      time.sleep(5)
    `,
    cancelAfterMs: 400,
    expect: { verdict: 'cancelled', stdout: 'started\n' },
  },
  {
    name: 'leaves a grandchild in its own session that holds stdout open',
    code: py`
      def child():
          os.setsid()
          if os.fork() == 0:
              signal.signal(signal.SIGTERM, signal.SIG_IGN)
              signal.signal(signal.SIGHUP, signal.SIG_IGN)
              time.sleep(20)
      os.waitpid(spawn(child), 0)
      print("main is done")
    `,
    limits: { timeoutMs: 3000 },
    expect: { verdict: 'ok', stdout: 'main is done\n', also: endedWithin(2000) },
  },
  {
    name: 'leaves a daemon without any descriptor',
    code: py`
      def child():
          os.setsid()
          if os.fork() == 0:
              os.closerange(0, 4096)
              time.sleep(20)
      os.waitpid(spawn(child), 0)
      print("main is done")
    `,
    expect: { verdict: 'ok', stdout: 'main is done\n' },
  },
  {
    name: 'leaves subprocesses of other programs',
    code: py`
      import subprocess
      for _ in range(3):
          subprocess.Popen(["/bin/sleep", "20"], start_new_session=True)
      print("main is done")
    `,
    expect: { verdict: 'ok', stdout: 'main is done\n' },
  },
  {
    name: 'hops from process to process faster than a list of pids can follow',
    code: fixture('pid_hopping.py'),
    harmful: true,
    limits: { timeoutMs: 3000 },
    // The script itself ends at once; the hopping goes on behind it until it is stopped.
    expect: { verdict: ['ok', 'processes-exceeded', 'cpu-exceeded'] },
  },
  {
    name: 'hops until the deadline',
    code: `${fixture('pid_hopping.py')}\ntime.sleep(20)\n`,
    harmful: true,
    limits: brief,
    expect: { verdict: ['timed-out', 'processes-exceeded', 'cpu-exceeded'] },
  },
  {
    name: 'stops itself',
    code: py`
      os.kill(os.getpid(), signal.SIGSTOP)
      time.sleep(60)
    `,
    limits: brief,
    expect: timedOut,
  },
  {
    name: 'leaves stopped children',
    code: py`
      for _ in range(3):
          child = spawn(lambda: time.sleep(20))
          os.kill(child, signal.SIGSTOP)
      print("main is done")
    `,
    expect: { verdict: 'ok', stdout: 'main is done\n' },
  },
  {
    name: 'hangs in atexit',
    code: 'import atexit, time\natexit.register(time.sleep, 60)\nprint("done")\n',
    bare: true,
    limits: brief,
    expect: { ...timedOut, stdout: 'done\n' },
  },
  {
    name: 'hangs in a thread that is not a daemon',
    code: 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\nprint("done")\n',
    bare: true,
    limits: brief,
    // As with python itself: the interpreter waits for such threads.
    expect: { ...timedOut, stdout: 'done\n' },
  },
  {
    name: 'is stuck in a daemon thread inside C',
    code: py`
      import threading
      lock = threading.Lock()
      lock.acquire()
      threading.Thread(target=lambda: (lock.acquire(), None), daemon=True).start()
      threading.Thread(target=lambda: _libc.pause(), daemon=True).start()
      time.sleep(0.05)
      print("main is done")
    `,
    expect: { verdict: 'ok', stdout: 'main is done\n', also: endedWithin(3000) },
  },
  {
    name: 'hangs in __del__ at the end',
    code: py`
      class Sticky:
          def __del__(self, sleep=time.sleep):
              sleep(60)
      sticky = Sticky()
      print("done")
    `,
    limits: brief,
    // Whether globals are destroyed at exit is the interpreter's business; either end is in time.
    expect: { verdict: ['ok', 'timed-out'], stdout: 'done\n' },
  },
  {
    name: 'hangs in sys.excepthook',
    code: py`
      sys.excepthook = lambda *error: time.sleep(60)
      raise ValueError("real")
    `,
    limits: brief,
    expect: { verdict: ['python-error', 'timed-out'] },
  },
  {
    name: 'hangs flushing a replaced stdout',
    code: py`
      class Slow:
          def write(self, text): pass
          def flush(self): time.sleep(60)
      sys.stdout = sys.stderr = Slow()
    `,
    limits: brief,
    expect: { verdict: ['ok', 'timed-out'] },
  },
  {
    name: 'waits for input that never comes',
    code: 'import sys\nprint(repr(sys.stdin.read()))\ninput()\n',
    bare: true,
    expect: { verdict: 'python-error', exception: 'EOFError', stdout: "''\n" },
  },
  {
    name: 'blocks in a FIFO',
    code: py`
      os.mkfifo("pipe")
      open("pipe").read()
    `,
    limits: brief,
    expect: timedOut,
  },
  {
    name: 'deadlocks in multiprocessing',
    code: py`
      import multiprocessing
      if __name__ == "__main__":
          queue = multiprocessing.get_context("fork").Queue()
          child = multiprocessing.get_context("fork").Process(target=queue.get)
          child.start()
          child.join()
    `,
    limits: brief,
    expect: timedOut,
  },
];
