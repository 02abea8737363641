import { type Attack, bomb, py } from '../attack.js';

/** Ends when stdout writes blocks (burst.py), with text in its buffer, which the supervisor reads from the worker's memory. */
const BURST = py`
  import ctypes, signal, time
  while sys.stdout.line_buffering:
      print("line")
  print("last")
`;

/** `waiting` and `start`: two fields of the buffer, as CPython 3.10 to 3.13 have them. */
const FIELDS = py`
  binary = sys.stdout.buffer
  start = ctypes.c_ssize_t.from_address(id(binary) + 7 * 8).value
  waiting = ctypes.c_ssize_t.from_address(id(binary) + 12 * 8)
  assert ctypes.string_at(start, waiting.value).endswith(b"last\n")
`;

const ROOM = { outputBytes: 4 << 20, outputHardBytes: 8 << 20 };

/** What a run can do with its stdout while the supervisor switches and reads it. */
export const BURSTS: Attack[] = [
  {
    name: 'a kill in native code, right after many lines',
    code: `${BURST}sum(range(10 ** 14))\n`,
    limits: { ...ROOM, timeoutMs: 1500 },
    expect: { verdict: 'timed-out', stdout: /^(line\n)+last\n$/ },
  },
  {
    name: 'another program in the middle of a burst',
    code: `${BURST}sys.stdout.flush()\nos.execv("/bin/sh", ["sh", "-c", "seq 5000; sleep 0.1; seq 5000; echo done"])\n`,
    limits: ROOM,
    expect: { verdict: 'ok', stdout: /last\n1\n2\n[\d\n]*\n5000\n1\n[\d\n]*\n5000\ndone\n$/ },
  },
  bomb({
    name: 'bursts and pauses for ever',
    code: py`
      import time
      while True:
          print("x\n" * 50)
          for _ in range(300):
              print("line")
          time.sleep(0.003)
    `,
    limits: { timeoutMs: 1500 },
    expect: { verdict: ['timed-out', 'output-exceeded'] },
  }),
  bomb({
    name: 'many lines for ever, with the signal ignored',
    code: py`
      import signal
      signal.signal(signal.SIGURG, signal.SIG_IGN)
      while True:
          print("line")
    `,
    limits: { outputHardBytes: 1 << 18 },
    expect: { verdict: 'output-exceeded' },
  }),
  bomb({
    name: 'a buffer that says something else at every look',
    code: `${BURST}${FIELDS}${py`
      signal.signal(signal.SIGURG, signal.SIG_IGN)
      waiting.value = 4096
      while True:
          ctypes.memmove(start, os.urandom(4096), 4096)
          time.sleep(0.001)
    `}`,
    limits: { timeoutMs: 5000, outputHardBytes: 1 << 18 },
    expect: { verdict: ['output-exceeded', 'timed-out'] },
  }),
  ...['2 ** 62', '-(2 ** 62)', '4097'].map((size) => ({
    name: `a buffer that claims to hold ${size} bytes`,
    code: `${BURST}${FIELDS}${py`
      sys.stdout.flush()
      waiting.value = ${size}
      time.sleep(0.1)
      waiting.value = -1
      print("done")
    `}`,
    limits: ROOM,
    expect: { verdict: 'ok' as const, stdout: /^(line\n)+last\ndone\n$/ },
  })),
  {
    name: 'a buffer whose memory is gone',
    code: `${BURST}${FIELDS}${py`
      libc = ctypes.CDLL(None)
      libc.munmap(ctypes.c_void_p(start & ~4095), ctypes.c_size_t(8192))
      while True:
          libc.usleep(1000)
    `}`,
    limits: { ...ROOM, timeoutMs: 1500 },
    expect: { verdict: ['killed', 'timed-out'] },
  },
];
