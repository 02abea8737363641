import { FIND_CHANNEL } from '../../../../../tests/fixtures/hostile/find-channel.mjs';
import type { Outcome } from '../../../src/contract/outcome.js';
import { type Attack, bomb } from '../attack.js';

const FORGE = `${FIND_CHANNEL}
import json, struct, threading
def frame(payload):
    return struct.pack(">IB", len(payload), ord("d")) + payload
def forge(payload):
    data = memoryview(frame(payload if isinstance(payload, bytes) else json.dumps(payload).encode()))
    while data:
        data = data[os.write(REPORT, data):]
HTML = {"data": {"text/html": "<script>alert(1)</script>"}}
`;

const atMost =
  (most: number) =>
  ({ displays = [] }: Outcome) =>
    displays.length > most ? `${displays.length} displays` : undefined;

/** Displays that no worker sends, or more of them than anybody could look at. */
export const DISPLAYS: Attack[] = [
  {
    name: 'forges a hundred thousand displays',
    code: `${FORGE}
try:
    for _ in range(100_000): forge(HTML)
except OSError:
    pass
print("done")`,
    expect: { verdict: 'ok', stdout: 'done\n', also: atMost(100) },
  },
  {
    name: 'forges displays of 2 MB until the supervisor has enough',
    code: `${FORGE}
try:
    for _ in range(100): forge({"data": {"text/html": "x" * 2_000_000}})
except OSError:
    pass
print("done")`,
    expect: { verdict: 'ok', stdout: 'done\n', also: atMost(100) },
  },
  {
    name: 'forges a display of 100 MB',
    code: `${FORGE}
try:
    forge(b"x" * 100_000_000)
except OSError:
    print("refused")`,
    expect: { verdict: 'ok', stdout: 'refused\n', also: atMost(0) },
  },
  bomb({
    name: 'shows a picture of 100 MB',
    code: `display({"image/png": bytes(100_000_000)}, raw=True)\nprint("done")`,
    expect: { verdict: ['ok', 'memory-exceeded'], also: atMost(0) },
  }),
  bomb({
    name: 'shows a million pictures',
    code: `for _ in range(1_000_000): display({"image/svg+xml": "<svg/>"}, raw=True)`,
    limits: { timeoutMs: 2000 },
    expect: { verdict: ['ok', 'timed-out', 'cpu-exceeded'], also: atMost(100) },
    bystander: true,
  }),
  {
    name: 'forges displays in parts, from ten threads and a child at once',
    code: `${FORGE}
def work():
    try:
        for _ in range(20): forge({"data": {"text/html": "x" * 100_000}})
    except OSError:
        pass
threads = [threading.Thread(target=work) for _ in range(10)]
for each in threads: each.start()
if os.fork() == 0:
    work()
    os._exit(0)
for each in threads: each.join()
os._exit(7)`,
    expect: { verdict: 'exited', details: { status: 7 }, also: atMost(100) },
  },
  {
    name: 'is stopped while it shows',
    code: `while True: display({"image/svg+xml": "x" * 100_000}, raw=True, clear=True)`,
    limits: { timeoutMs: 700 },
    expect: { verdict: 'timed-out', also: atMost(100) },
  },
  {
    name: 'is stopped within a display',
    code: `${FORGE}os.write(REPORT, frame(b"x" * 1000)[:500])\ntime.sleep(60)`,
    limits: { timeoutMs: 500 },
    expect: { verdict: 'timed-out', also: atMost(0) },
  },
  {
    name: 'never reads the answers to its displays',
    code: `${FORGE}
for _ in range(1000): forge(HTML)
display({"text/html": "last"}, raw=True)
"value"`,
    expect: { verdict: 'ok', also: atMost(100) },
  },
  {
    name: 'takes the answers to its displays away',
    code: `${FORGE}
threading.Thread(target=lambda: [os.read(JOB, 1) for _ in range(1000)], daemon=True).start()
display({"text/html": "x"}, raw=True)
display({"text/html": "y"}, raw=True)`,
    limits: { timeoutMs: 700 },
    expect: { verdict: ['ok', 'timed-out'], also: atMost(100) },
  },
  {
    name: 'claims how many displays are missing',
    code: `${FORGE}
forge({"leftOut": -5, "data": {}})
forge({"leftOut": 1e300, "omitted": ["x" * 10_000] * 100})
forge({"leftOut": "many", "omitted": "x"})`,
    expect: {
      verdict: 'ok',
      also: ({ notes = [] }) => (JSON.stringify(notes).length < 5000 ? undefined : 'notes are too long'),
    },
  },
  {
    name: 'replaces the display of everybody',
    code: `import builtins\nbuiltins.display = None\nimport importlib.machinery\nimportlib.machinery.PathFinder.find_spec = None\nprint("mine")`,
    expect: { verdict: 'ok', stdout: 'mine\n' },
    victim: true,
  },
];
