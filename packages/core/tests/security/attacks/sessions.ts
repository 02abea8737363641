import { FIND_CHANNEL } from '../../../../../tests/fixtures/hostile/find-channel.mjs';
import type { Outcome } from '../../../src/contract/outcome.js';
import { type Attack, bomb, py } from '../attack.js';

/** Gives the code `forge(kind, payload)`, which writes a frame to the supervisor. */
const FORGE = `${FIND_CHANNEL}
import json, struct, threading, time
def forge(kind, payload=b"{}"):
    data = memoryview(struct.pack(">IB", len(payload), ord(kind)) + payload)
    while data:
        data = data[os.write(REPORT, data):]
`;

/** Measures, in \`work\`, the longest time in which it did not run. */
const WATCH = py`
  import os, signal, threading, time
  gaps = [0.0, 0]
  def work(path=None):
      last = time.monotonic()
      while True:
          now = time.monotonic()
          gaps[0], gaps[1], last = max(gaps[0], now - last), gaps[1] + 1, now
          if path and gaps[1] % 20 == 0:
              with open(path + ".new", "w") as file: file.write(f"{gaps[0]} {gaps[1]}")
              os.rename(path + ".new", path)
          time.sleep(0.001)
`;
const PAUSE_MS = 700;
/** What runs between two calls has no gap of that length. */
const stopped = (gap: string) =>
  `gap = ${gap}\nprint("stopped" if gap > ${(PAUSE_MS * 0.8) / 1000} else f"BREACH ran on, longest gap {gap}")`;
const FROM_FILE = py`
  import time
  until = time.monotonic() + 3
  while (gap := float(open("gap").read().split()[0])) < 0.5 and time.monotonic() < until: time.sleep(0.01)
`;
const isStopped = { verdict: 'ok', stdout: 'stopped\n' } as const;
const hasEnded = ({ session }: Outcome) => (session?.alive === false ? undefined : 'the session goes on');
const isEnded = { verdict: 'timed-out', also: hasEnded } as const;
const goesOn = ({ session }: Outcome) => (session?.alive === true ? undefined : 'the session has ended');

/** A session gives an attacker time, a process that stays, and a supervisor that listens to it for longer. */
export const SESSIONS: Attack[] = [
  {
    name: 'session: a thread that does not stop between calls',
    code: `${WATCH}\nthreading.Thread(target=work, daemon=True).start()\ntime.sleep(0.05)`,
    calls: [PAUSE_MS, `time.sleep(0.1)\n${stopped('gaps[0]')}`],
    expect: { ...isStopped, also: goesOn },
    victim: true,
  },
  {
    name: 'session: a process without parents that does not stop between calls',
    code: `${WATCH}
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTOU): signal.signal(number, signal.SIG_IGN)
        work("gap")
    os._exit(0)
while not os.path.exists("gap"): time.sleep(0.01)`,
    calls: [PAUSE_MS, `${FROM_FILE}\n${stopped('gap')}`],
    expect: isStopped,
    victim: true,
  },
  {
    name: 'session: processes that wake each other between calls',
    code: `${WATCH}
first = os.getpid()
def wake(others):
    while True:
        for other in others:
            try: os.kill(other, signal.SIGCONT)
            except OSError: pass
        time.sleep(0.001)
children = []
for number in range(6):
    children.append(spawn(lambda: (threading.Thread(target=wake, args=([first, *children],), daemon=True).start(), work(f"gap{number}" if number else "gap"))))
threading.Thread(target=wake, args=(children,), daemon=True).start()
while not os.path.exists("gap"): time.sleep(0.01)`,
    calls: [PAUSE_MS, `${FROM_FILE}\n${stopped('gap')}`],
    expect: isStopped,
  },
  {
    name: 'session: asks the kernel to wake it between calls',
    long: true,
    code: `${WATCH}
import fcntl, struct
event = ctypes.create_string_buffer(64)
struct.pack_into("Pii", event, 0, 0, int(signal.SIGCONT), 0)
timer = ctypes.c_void_p()
made = _libc.timer_create(1, event, ctypes.byref(timer))
if made == 0: _libc.timer_settime(timer, 0, struct.pack("4l", 0, 10**7, 0, 10**7), None)
_libc.prctl(1, int(signal.SIGCONT), 0, 0, 0)
read_end, write_end = os.pipe()
try:
    fcntl.fcntl(read_end, 10, int(signal.SIGCONT))
    fcntl.fcntl(read_end, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(read_end, fcntl.F_SETFL, os.O_ASYNC)
except OSError:
    pass
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.01)
signal.signal(signal.SIGALRM, lambda *_: os.write(write_end, b"x"))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)`,
    calls: [PAUSE_MS, `signal.setitimer(signal.ITIMER_REAL, 0)\ntime.sleep(0.1)\n${stopped('gaps[0]')}`],
    expect: isStopped,
  },
  {
    name: 'session: says that it has paused, and goes on',
    long: true,
    code: `${FORGE}\nforge("K")\nfor number in range(100):\n    time.sleep(0.01)\nprint("still here")`,
    calls: ['print("second")'],
    // What the first call left to do is done in the second one, whose own code may have to wait for a third.
    expect: { verdict: 'ok', stdout: /^still here\n(second\n)?$/, also: goesOn },
    victim: true,
  },
  {
    name: 'session: says that it has paused, and wakes itself again and again',
    long: true,
    code: `${FORGE}\nforge("K")\nwhile True: os.kill(os.getpid(), signal.SIGCONT)`,
    calls: [1200, 'print("second")'],
    limits: { timeoutMs: 15_000, cpuMs: 700 },
    expect: { verdict: 'cpu-exceeded', also: goesOn },
  },
  {
    name: 'session: says a hundred thousand times that it has paused',
    long: true,
    code: `${FORGE}
def say():
    try:
        for _ in range(100_000): forge("K", b'{"status": 0}')
    except OSError:
        pass
threading.Thread(target=say, daemon=True).start()
time.sleep(0.2)`,
    calls: ['import time\ntime.sleep(0.2)', 'print("third")', 'print("fourth")'],
    limits: { timeoutMs: 1500 },
    expect: isEnded,
    victim: true,
  },
  {
    name: 'session: pauses with a report of 100 MB',
    long: true,
    code: `${FORGE}
os.write(REPORT, struct.pack(">IB", 100_000_000, ord("K")))
try:
    for _ in range(2000): os.write(REPORT, bytes(50_000))
except OSError:
    print("refused")`,
    calls: ['print("second")'],
    limits: { timeoutMs: 1500 },
    expect: { ...isEnded, stdout: 'refused\n' },
  },
  {
    name: 'session: sends what only the supervisor sends',
    code: `${FORGE}
facts = json.dumps({"killedFor": None, "isKept": True, "status": 0, "signal": None, "wallMs": 0, "cpuMs": 0, "peakBytes": 0}).encode()
for kind in "XiHPFoeSRTDV":
    forge(kind, facts)
forge("i", b'{"path": "../../forged.txt", "size": 6}\\nforged')
print("sent")`,
    calls: ['print("second")'],
    limits: { timeoutMs: 1500 },
    expect: {
      verdict: 'ok',
      stdout: 'second\n',
      also: (outcome) => (outcome.artifacts === undefined ? goesOn(outcome) : 'a forged file was taken'),
    },
    victim: true,
  },
  {
    name: 'session: takes its next job away',
    long: true,
    code: `${FORGE}
def take():
    while True: os.read(JOB, 65536)
for _ in range(4): threading.Thread(target=take, daemon=True).start()
time.sleep(0.1)`,
    calls: ['print("second")'],
    limits: { timeoutMs: 1000 },
    // Whoever reads first has it: the session, or a thread.
    expect: {
      verdict: ['timed-out', 'ok'],
      also: (outcome) => (outcome.verdict.kind === 'ok' ? goesOn(outcome) : hasEnded(outcome)),
    },
  },
  {
    name: 'session: closes its pipes after a call',
    code: `${FORGE}\nimport atexit\nthreading.Timer(0.05, lambda: (os.close(JOB), os.close(REPORT))).start()`,
    calls: ['import time\ntime.sleep(0.3)', 'print("third")'],
    limits: { timeoutMs: 1500 },
    expect: { verdict: 'ok', stdout: '', also: hasEnded },
  },
  {
    name: 'session: replaces everything that the worker uses between calls',
    code: py`
      import builtins, gc, io, json, linecache, os, signal, sys, threading
      def broken(*_, **__): raise SystemError("mine")
      for module, names in ((os, "read write getpid listdir fstat open close dup2 environ"), (signal, "signal pthread_sigmask"),
                            (gc, "get_objects collect"), (json, "loads dumps"), (io, "open TextIOWrapper"), (builtins, "open map sum len list")):
          for name in names.split(): setattr(module, name, broken)
      sys.modules.clear()
    `,
    calls: ['print("second")'],
    limits: { timeoutMs: 1500 },
    expect: { verdict: 'exited', details: { status: 70 }, also: hasEnded },
    victim: true,
  },
  bomb({
    name: 'session: memory that grows from call to call',
    long: true,
    code: 'held = []',
    calls: Array.from({ length: 12 }, () => 'held.append(bytearray(40 << 20))\nprint(len(held))'),
    expect: { verdict: 'memory-exceeded', also: hasEnded },
  }),
  bomb({
    name: 'session: memory that is taken between calls',
    code: py`
      import threading, time
      held = []
      def take():
          while True:
              time.sleep(0.05)
              held.append(bytearray(8 << 20))
      threading.Thread(target=take, daemon=True).start()
    `,
    calls: [300, 'n = len(held)', 500, 'print("BREACH" if len(held) > n + 2 else "stopped")'],
    expect: isStopped,
  }),
  bomb({
    name: 'session: files that grow from call to call',
    long: true,
    code: 'import os',
    calls: Array.from(
      { length: 12 },
      (_, number) => `open("file${number}", "wb").write(bytes(3 << 20))\nprint(${number})`,
    ),
    expect: { verdict: 'disk-exceeded', also: hasEnded },
  }),
  bomb({
    name: 'session: processes that grow from call to call',
    long: true,
    code: 'import os, time\nkept = []',
    calls: Array.from(
      { length: 10 },
      () =>
        'for _ in range(8):\n    if os.fork() == 0:\n        os.setsid()\n        while True: time.sleep(1)\ntime.sleep(0.1)',
    ),
    expect: { verdict: 'processes-exceeded', also: hasEnded },
  }),
  {
    name: 'session: descriptors that grow from call to call',
    code: 'import os\nkept = []\ntry:\n    while True: kept.append(os.open("/dev/null", os.O_RDONLY))\nexcept OSError:\n    print("full")',
    calls: ['print("second")', 'kept.clear()'],
    // A script is a file, and there is no descriptor left to write it.
    expect: { verdict: 'python-error', exception: 'OSError', also: goesOn },
  },
  {
    name: 'session: CPU time that is spread over calls and processes',
    long: true,
    code: 'import os\nfor _ in range(4):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass',
    calls: ['while True: pass'],
    limits: { cpuMs: 800, timeoutMs: 5000 },
    expect: { verdict: 'cpu-exceeded', also: goesOn },
  },
  {
    name: 'session: ignores every interrupt',
    long: true,
    code: py`
      import signal, sys, time
      signal.signal(signal.SIGINT, signal.SIG_IGN)
      signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    `,
    calls: ['while True:\n    try:\n        while True: time.sleep(0.01)\n    except BaseException: pass'],
    limits: { timeoutMs: 500 },
    expect: isEnded,
  },
  {
    name: 'session: starts ten calls when it is interrupted',
    long: true,
    code: py`
      import signal, subprocess, sys
      def again(*_): [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
      signal.signal(signal.SIGINT, again)
    `,
    calls: ['while True: pass', 'print("third")'],
    limits: { timeoutMs: 500 },
    expect: isEnded,
  },
  {
    name: 'session: looks for handles of sessions in its memory and files',
    code: py`
      import re, sys
      pattern = re.compile(b"session" + b"-[A-Za-z0-9_-]{22}")
      found = []
      with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
          for line in maps:
              area, rights, *_ = line.split()
              if not rights.startswith("r") or "[v" in line: continue
              start, end = (int(part, 16) for part in area.split("-"))
              try:
                  memory.seek(start)
                  found += pattern.findall(memory.read(min(end - start, 64 << 20)))
              except OSError: continue
      print("BREACH" if found else "nothing", len(found))
    `,
    calls: ['print("second")'],
    limits: { memoryMb: 512 },
    expect: { verdict: 'ok', stdout: 'second\n' },
  },
];
