import type { Outcome } from '../../../src/contract/outcome.js';
import { type Attack, bomb, py } from '../attack.js';

const paths = ({ artifacts = [] }: Outcome) => artifacts.map(({ path }) => path);
/** Nothing but these paths may have been taken. */
const only =
  (...expected: string[]) =>
  (outcome: Outcome) => {
    const taken = paths(outcome).filter((path) => !expected.includes(path));
    return taken.length === 0 ? undefined : `also took ${taken.slice(0, 5).join(', ')}`;
  };
const atMost = (most: number) => (outcome: Outcome) =>
  paths(outcome).length <= most ? undefined : `took ${paths(outcome).length} files`;

/** Files that a run leaves behind are read by the supervisor and kept by the server: a way out, or in. */
export const ARTIFACTS: Attack[] = [
  {
    name: 'artifacts: links to files and folders of the host, and through them',
    code: py`
      for number, path in enumerate([context["canaryFile"], context["bait"], *context["secretFiles"], *context["secretFolders"], "/", "/proc", "/proc/self/mem"]):
          os.symlink(path, f"link{number}")
          os.symlink(f"link{number}", f"again{number}")
      os.symlink("/proc/self/root", "root")
      os.mkdir("folder")
      os.symlink("..", "folder/up")
      write("own")
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n', also: only('own') },
  },
  {
    name: 'artifacts: hard links to files of the host',
    code: py`
      for number, path in enumerate([context["canaryFile"], sys.executable, "/etc/passwd", *context["secretFiles"]]):
          try: os.link(path, f"hard{number}")
          except OSError: pass
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n', also: only() },
  },
  {
    name: 'artifacts: modules that their supervisor imports when it looks for changed inputs',
    code: py`
      for folder in {os.getcwd(), os.environ["TMPDIR"], os.environ["HOME"]}:
          for name in ("hashlib", "_hashlib", "_sha2", "_sha256", "_blake2", "json", "re"):
              with open(f"{folder}/{name}.py", "w") as file:
                  file.write("import os\nos.write(2, b'BREACH')\nos._exit(0)\n")
      print("done")
    `,
    request: { files: [{ path: 'input.txt', text: 'the same' }] },
    expect: {
      verdict: 'ok',
      stdout: 'done\n',
      also: only(
        ...['hashlib', '_hashlib', '_sha2', '_sha256', '_blake2', 'json', 're'].map((name) => `${name}.py`),
      ),
    },
  },
  {
    name: 'artifacts: pipes, sockets and devices that nobody could read to their end',
    code: py`
      import socket
      os.mkfifo("pipe")
      os.open("pipe", os.O_RDWR)
      for number, mode in enumerate((0o020666, 0o060666)):
          try: os.mknod(f"device{number}", mode, os.makedev(1, 5))
          except OSError: pass
      try: socket.socket(socket.AF_UNIX).bind("socket")
      except OSError: pass
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n', also: only() },
  },
  {
    name: 'artifacts: names with newlines, escapes, quotes and no text at all',
    code: py`
      names = ["new\nline", "\x1b[2Jclear", "quote'\"", "back\\slash", "..\\up", "\u202eevil.txt", "-rf", "{\"path\"", "<script>", "%2e%2e%2fup", "a" * 255]
      for name in names: write(name)
      for name in (b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xae\xc0\xae"):
          try: open(name, "wb").close()
          except OSError: pass
      print("done")
    `,
    expect: {
      verdict: 'ok',
      stdout: 'done\n',
      also: (outcome) =>
        paths(outcome).some((path) => path.includes('\\')) ? 'a backslash' : atMost(11)(outcome),
    },
  },
  bomb({
    name: 'artifacts: a million files',
    long: true,
    code: py`
      made = 0
      try:
          for number in range(1_000_000):
              open(f"{number}", "w").close()
              made += 1
      except OSError: pass
      print("done")
    `,
    limits: { timeoutMs: 15_000, cpuMs: 12_000 },
    // The disk is full for the script, which ends well unless it is looked at before that.
    expect: { verdict: ['ok', 'disk-exceeded'], also: atMost(200) },
    expectInLandlock: { verdict: 'disk-exceeded', also: atMost(200) },
    bystander: true,
  }),
  bomb({
    name: 'artifacts: folders within folders without end',
    code: py`
      for _ in range(1500):
          os.mkdir("d" * 100)
          os.chdir("d" * 100)
      write("deep")
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n', also: only() },
    expectInLandlock: { verdict: 'disk-exceeded', also: only() },
  }),
  bomb({
    name: 'artifacts: a file of a terabyte of nothing, and many of the largest size',
    code: py`
      try:
          with open("huge", "wb") as file: file.truncate(1 << 40)
      except OSError: pass
      for number in range(40):
          with open(f"hole{number}", "wb") as file: file.truncate(15 << 20)
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n', also: atMost(3) },
    bystander: true,
  }),
  {
    name: 'artifacts: files that change and vanish until the last moment',
    long: true,
    code: py`
      import threading
      def change():
          while True:
              for number in range(50):
                  try:
                      with open(f"file{number}", "wb") as file: file.write(os.urandom(number * 100))
                      os.rename(f"file{number}", f"file{(number * 7) % 50}")
                      os.symlink("/etc/passwd", f"link{number}")
                      os.replace(f"link{number}", f"file{(number * 3) % 50}")
                  except OSError: pass
      for _ in range(3): threading.Thread(target=change, daemon=True).start()
      spawn(change)
      time.sleep(0.5)
      print("done")
    `,
    calls: ['time.sleep(0.2)\nprint("again")'],
    expect: { verdict: 'ok', stdout: 'again\n', also: atMost(200) },
  },
  {
    name: 'artifacts: a folder that cannot be read or entered',
    code: py`
      os.mkdir("closed")
      write("closed/file")
      os.chmod("closed", 0)
      write("open")
      os.chmod("open", 0)
      print("done")
    `,
    expect: { verdict: 'ok', stdout: 'done\n', also: only('open', 'closed/file') },
  },
  {
    name: 'artifacts: fills the store of its caller',
    long: true,
    code: 'import os',
    calls: Array.from(
      { length: 8 },
      (_, number) => `open("file", "wb").write(os.urandom(4 << 20))\nprint(${number})`,
    ),
    expect: { verdict: 'ok', stdout: '7\n' },
  },
];
