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

/** Where the worker leaves originals of displays (originals.py), and a display that claims to have some. */
const ORIGINALS = `${FORGE}
import tempfile
SHOWN = os.path.join(tempfile.gettempdir(), ".shown")
def claim(**originals):
    forge({"data": {"text/html": "x"}, "originals": {f"image/{kind}": name for kind, name in originals.items()}})
`;

/** Too large to be shown: a file of the run, as long as there is room. */
const LARGE_PAGE = 'page = {"text/html": "x" * 1_100_000}\n';

/** Displays, and files with so many megabytes together (ARTIFACT_MB). */
const leavesAtMost =
  (megabytes: number) =>
  (outcome: Outcome): string | undefined => {
    const bytes = (outcome.artifacts ?? []).reduce((sum, { size }) => sum + size, 0);
    return bytes > megabytes * 1024 * 1024 ? `it left ${bytes} bytes` : atMost(100)(outcome);
  };

/** The files that a run left, each as its path and size. */
const leaves =
  (...expected: string[]) =>
  ({ artifacts = [] }: Outcome) => {
    const found = artifacts.map(({ path, size }) => `${path} ${size}`).join();
    return found === expected.join() ? undefined : `it left ${found}`;
  };

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
    expect: { verdict: 'ok', stdout: 'done\n', also: atMost(0) },
  }),
  bomb({
    name: 'shows pictures without end',
    long: true,
    code: `while True: display({"image/svg+xml": "<svg/>"}, raw=True)`,
    limits: { timeoutMs: 2000 },
    expect: { verdict: 'timed-out', also: atMost(100) },
    bystander: true,
  }),
  bomb({
    name: 'shows pages without end that are too large to be shown, and become files',
    code: `${LARGE_PAGE}while True: display(page, raw=True)`,
    limits: { timeoutMs: 1000, diskMb: 64 },
    expect: { verdict: 'timed-out', also: leavesAtMost(32) },
    bystander: true,
  }),
  bomb({
    name: 'shows pages without end that become files, each instead of the one before',
    long: true,
    code: `${LARGE_PAGE}
shown = display(page, raw=True, display_id=True)
while True:
    shown.update(page, raw=True)
    display(page, raw=True, clear=True)`,
    limits: { timeoutMs: 1000 },
    expect: { verdict: 'timed-out', also: leavesAtMost(16) },
  }),
  bomb({
    name: 'shows pages without end that become files, when the script has ended',
    long: true,
    code: `${LARGE_PAGE}
import atexit
@atexit.register
def show():
    while True: display(page, raw=True)`,
    limits: { timeoutMs: 1000 },
    expect: { verdict: 'timed-out', also: leavesAtMost(16) },
  }),
  bomb({
    name: 'shows pages without end that become files, in a session',
    long: true,
    code: `${LARGE_PAGE}for _ in range(40): display(page, raw=True)`,
    calls: ['for _ in range(40): display(page, raw=True)', 'while True: display(page, raw=True)'],
    limits: { timeoutMs: 1500 },
    expect: { verdict: 'timed-out', also: leavesAtMost(16) },
  }),
  bomb({
    name: 'shows pages that find no room as files, beside thousands of files',
    long: true,
    code: `${LARGE_PAGE}
for number in range(4000): open(f"{number}", "w").close()
with open("large", "wb") as file: file.truncate(15 << 20)
while True: display({**page, "image/svg+xml": page["text/html"], "text/csv": page["text/html"]}, raw=True)`,
    limits: { timeoutMs: 1500 },
    expect: { verdict: 'timed-out', also: leavesAtMost(16) },
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
threading.Thread(target=lambda: [os.read(JOB, 4096) for _ in range(1000)], daemon=True).start()
time.sleep(0.1)
display({"text/html": "x"}, raw=True)
display({"text/html": "y"}, raw=True)`,
    limits: { timeoutMs: 700 },
    expect: { verdict: 'timed-out', also: atMost(2) },
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
  {
    name: 'leaves links, pipes and folders as originals of displays',
    code: `${ORIGINALS}
os.mkdir(SHOWN)
os.symlink("/etc/passwd", f"{SHOWN}/1.png")
os.mkfifo(f"{SHOWN}/2.png")
os.mkdir(f"{SHOWN}/3.png")
open(f"{SHOWN}/4.png", "w").write("mine")
open(f"{SHOWN}/5.png\\n", "w").write("name")
claim(png="1.png", jpeg="2.png", gif="3.png", webp="4.png")
print("done")`,
    expect: {
      verdict: 'ok',
      stdout: 'done\n',
      also: leaves('display-1.html 1', 'display-1.webp 4'),
    },
  },
  {
    name: 'makes the folder of originals a way out',
    code: `${ORIGINALS}
os.symlink("/etc", SHOWN)
claim(png="passwd", jpeg="../../etc/passwd", gif="__proto__", webp="constructor")
display({"text/html": "y" * 300_000}, raw=True)`,
    expect: { verdict: 'ok', also: leaves('display-1.html 1', 'display-2.html 300000') },
  },
  {
    name: 'claims originals of any type and number, and files of others',
    code: `${ORIGINALS}
os.mkdir(SHOWN)
open(f"{SHOWN}/1.png", "w").write("one")
originals = {"../../x": "1.png", "a/b": "1.png", "text/html\\r\\n": "1.png", "image/png": ["1.png"], "__proto__": "1.png"}
forge({"data": {"text/html": "x"}, "originals": originals})
forge({"data": {"text/html": "x"}, "originals": {f"image/x{n}": "1.png" for n in range(10_000)}})
forge({"data": {"text/html": "x"}, "originals": "1.png"})
forge({"data": {}, "originals": {"image/png": "1.png"}})`,
    expect: {
      verdict: 'ok',
      also: leaves('display-1.html 1', 'display-2.html 1', 'display-3.html 1'),
    },
  },
  {
    name: 'leaves an original that is too large, and thousands of others',
    code: `${ORIGINALS}
os.mkdir(SHOWN)
for number in range(3000): open(f"{SHOWN}/x{number}", "w").close()
with open(f"{SHOWN}/1.png", "w") as file: file.truncate(40 << 20)
for number in range(2, 900): open(f"{SHOWN}/{number}.png", "w").close()
claim(png="1.png", jpeg="2.png")`,
    limits: { diskMb: 64 },
    expect: {
      verdict: 'ok',
      also: ({ artifacts = [], notes = [] }) =>
        artifacts.length <= 200 && notes.some((note) => /left out/.test(note))
          ? undefined
          : 'nothing is left out',
    },
    bystander: true,
  },
  {
    name: 'replaces what writes originals',
    code: `import io, os, tempfile, types, sys
pandas = sys.modules["pandas"] = types.ModuleType("pandas")
class DataFrame:
    size = 50_000
    def to_csv(self, target): raise KeyboardInterrupt
    def _repr_html_(self): return "x"
pandas.DataFrame = DataFrame
try: display(DataFrame())
except KeyboardInterrupt: print("interrupted")
DataFrame.to_csv = lambda self, target: [target.write("x" * 1_000_000) for _ in range(1000)]
display(DataFrame())
DataFrame.to_csv = lambda self, target: target.buffer.close()
display(DataFrame())
print(os.listdir(os.path.join(tempfile.gettempdir(), ".shown")))`,
    bare: true,
    expect: {
      verdict: 'ok',
      stdout: /^.*interrupted\n.*\[\]\n$/s,
      also: leaves('display-1.html 1', 'display-2.html 1', 'display-3.html 1'),
    },
  },
];
