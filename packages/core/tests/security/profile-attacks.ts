import { FIND_CHANNEL } from '../../../../tests/fixtures/hostile/find-channel.mjs';
import { py } from '../../../../tests/support/python.js';
import type { CodeSummary } from '../../src/contract/disclosure.js';
import type { Outcome } from '../../src/contract/outcome.js';
import type { ScopeRules } from '../../src/contract/profile.js';
import type { AttackTier } from './attack.js';

/** One run under a profile: `sales` is its data, `other` the data of another profile in the same server. */
export interface ProfileAttack {
  name: string;
  code: string;
  rules?: Partial<ScopeRules>;
  /** Whether the code's summary is asked for. */
  summarize?: boolean;
  /** Where it is one; in both if not said. */
  tiers?: readonly AttackTier[];
  /** A sentence if it came out otherwise than it should; what must hold after every row is in the runner. */
  judge(outcome: Outcome, summary: CodeSummary | null): string | undefined;
}

const TRYING = py`
  import ctypes, errno, mmap, os, sys
  done = []
  def attempt(what, action):
      try:
          result = action()
          done.append(what if result is None else f"{what}: {result!r}"[:200])
      except (OSError, ValueError, LookupError):
          pass
  libc = ctypes.CDLL(None, use_errno=True)
  def call(name, *arguments):
      if getattr(libc, name)(*arguments) != 0:
          raise OSError(ctypes.get_errno(), name)
  real = os.path.realpath("data/sales")
  # The same folder, as one of scripts.
  scripts = "/run/data/.scripts" if real.startswith("/run/data/") else real
`;

/** Tries in the sandbox; prints what was possible. */
const reach = (tries: string) => `${TRYING}\n${tries}\nprint("reached", done) if done else print("held")\n`;

const held = ({ verdict, stdout }: Outcome): string | undefined =>
  verdict.kind === 'ok' && stdout.text.trim() === 'held' ? undefined : `${verdict.kind} ${stdout.text}`;

const WORKSPACE: [why: string, tries: string][] = [
  ['writing to a file', 'attempt("write", lambda: open("data/sales/rows.csv", "a"))'],
  ['writing through its real path', 'attempt("write", lambda: open(os.path.join(real, "rows.csv"), "r+"))'],
  ['truncating a file', 'attempt("truncate", lambda: os.truncate("data/sales/rows.csv", 0))'],
  ['a new file', 'attempt("new", lambda: open("data/sales/new.csv", "w"))'],
  [
    'a socket by which programs of the host could be reached',
    'import socket\nattempt("socket", lambda: socket.socket(socket.AF_UNIX).fileno())',
  ],
  [
    'a lock that makes programs of the host wait',
    'import fcntl\nattempt("flock", lambda: fcntl.flock(open("data/sales/rows.csv"), fcntl.LOCK_EX | fcntl.LOCK_NB))',
  ],
  [
    'another version of the inode',
    'import fcntl\nattempt("version", lambda: fcntl.ioctl(open("data/sales/rows.csv"), 0x40087602, b"\\x05" * 8))',
  ],
  ['a new folder', 'attempt("folder", lambda: os.mkdir("data/sales/new"))'],
  [
    'writing to a folder of scripts',
    py`
      assert os.listdir(scripts)
      attempt("write", lambda: open(f"{scripts}/rows.csv", "r+"))
      attempt("new", lambda: open(f"{scripts}/new.py", "w"))
      attempt("bytecode", lambda: os.mkdir(f"{scripts}/__pycache__"))
      attempt("delete", lambda: os.unlink(f"{scripts}/rows.csv"))
      attempt("rename", lambda: os.rename(f"{scripts}/rows.csv", f"{scripts}/moved.csv"))
      attempt("link", lambda: os.link(f"{scripts}/rows.csv", "mine.csv"))
    `,
  ],
  [
    'leaving a folder of scripts',
    py`
      for path in ("absolute", "relative", "upwards/secret.txt", "../secret.txt", "../../secret.txt"):
          attempt(path, lambda: open(f"{scripts}/{path}").read())
      attempt("root", lambda: open("/proc/self/root" + context["secret"]).read())
      attempt("folder", lambda: open("/proc/self/cwd/data/sales/../secret.txt").read())
      attempt("descriptor", lambda: os.open("../secret.txt", os.O_RDONLY, dir_fd=os.open(scripts, os.O_RDONLY)))
      os.symlink(os.path.dirname(context["secret"]), "way")
      attempt("own link", lambda: open("way/secret.txt").read())
    `,
  ],
  ['deleting a file', 'attempt("delete", lambda: os.unlink("data/sales/rows.csv"))'],
  ['deleting a folder', 'attempt("delete", lambda: os.rmdir("data/sales/empty"))'],
  ['renaming inside', 'attempt("rename", lambda: os.rename("data/sales/rows.csv", "data/sales/moved.csv"))'],
  ['moving a file out', 'attempt("move", lambda: os.rename("data/sales/rows.csv", "rows.csv"))'],
  [
    'moving a file in, over another',
    'open("mine", "w").close()\nattempt("move", lambda: os.rename("mine", "data/sales/rows.csv"))',
  ],
  ['a symbolic link inside', 'attempt("link", lambda: os.symlink("/", "data/sales/way-out"))'],
  ['a hard link inside', 'attempt("link", lambda: os.link("data/sales/rows.csv", "data/sales/second.csv"))'],
  [
    'writing through a hard link outside',
    'attempt("link", lambda: open((os.link("data/sales/rows.csv", "mine.csv"), "mine.csv")[1], "a"))',
  ],
  [
    'other rights, then writing',
    py`
      try:
          os.chmod("data/sales/rows.csv", 0o777)
      except OSError:
          pass
      attempt("write", lambda: open("data/sales/rows.csv", "a"))
    `,
  ],
  [
    'another owner, then writing',
    py`
      try:
          os.chown("data/sales/rows.csv", os.getuid(), os.getgid())
      except OSError:
          pass
      attempt("write", lambda: open("data/sales/rows.csv", "a"))
    `,
  ],
  ['a named pipe', 'attempt("pipe", lambda: os.mkfifo("data/sales/pipe"))'],
  ['a device', 'attempt("device", lambda: os.mknod("data/sales/device", 0o20666, os.makedev(1, 5)))'],
  [
    'a file without a name',
    'attempt("unnamed", lambda: os.close(os.open("data/sales", os.O_TMPFILE | os.O_RDWR)))',
  ],
  [
    'writing to mapped memory',
    py`
      def write_to_map():
          fd = os.open("data/sales/rows.csv", os.O_RDONLY)
          with mmap.mmap(fd, 4, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as pages:
              pages[0] = 88
      attempt("map", write_to_map)
    `,
  ],
  [
    'opening it again for writing by its descriptor',
    py`
      fd = os.open("data/sales/rows.csv", os.O_RDONLY)
      attempt("reopen", lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR))
    `,
  ],
  [
    'another version or other flags by a descriptor that reads',
    // The filter's answer: that of a file system would depend on which one it is.
    py`
      import fcntl
      fd = os.open("data/sales/rows.csv", os.O_RDONLY)
      for request in (0x40086602, 0x401C5820, 0x40087602, 0x40047602, 0x40086604, 0x40046604, 0x40806685):
          try:
              fcntl.ioctl(fd, request, bytes(128))
              done.append(hex(request))
          except OSError as error:
              if error.errno != errno.EPERM:
                  done.append((hex(request), error))
    `,
  ],
  [
    'punching holes',
    py`
      fd = os.open("data/sales/rows.csv", os.O_RDONLY)
      attempt("punch", lambda: call("fallocate", fd, 3, ctypes.c_long(0), ctypes.c_long(4)))
    `,
  ],
  [
    'mounting it anew for writing',
    py`
      attempt("remount", lambda: call("mount", None, real.encode(), None, ctypes.c_ulong(32 | 4096), None))
      attempt("unmount", lambda: call("umount2", real.encode(), 2))
      attempt("unshare", lambda: call("unshare", 0x10000000 | 0x20000))
    `,
  ],
  ['what is above it', 'attempt("above", lambda: open("data/sales/../secret.txt").read())'],
  [
    'what is above its real path',
    'attempt("above", lambda: open(os.path.join(real, "../secret.txt")).read())',
  ],
  [
    'the file that an absolute link in it names',
    'attempt("link", lambda: open("data/sales/absolute").read())',
  ],
  [
    'the file that a relative link in it names',
    'attempt("link", lambda: open("data/sales/relative").read())',
  ],
  ['the folder that a link in it names', 'attempt("link", lambda: os.listdir("data/sales/upwards/other"))'],
  [
    'the neighbours of the folder on the host',
    'attempt("neighbours", lambda: open(context["secret"]).read())',
  ],
  [
    'the root of another process',
    py`
      for pid in ("self", *range(1, 200), os.getppid()):
          attempt(pid, lambda: open(f"/proc/{pid}/root{context['secret']}").read())
          attempt(pid, lambda: open(f"/proc/{pid}/cwd/../secret.txt").read())
    `,
  ],
  [
    'the data of another profile',
    py`
      attempt("by name", lambda: os.listdir("data/other"))
      attempt("beside", lambda: os.listdir(os.path.join(real, "../other")))
      attempt("where it is mounted", lambda: os.listdir("/run/data/other"))
      attempt("on the host", lambda: os.listdir(context["other"]))
    `,
  ],
  ['starting a program in it', 'attempt("start", lambda: os.posix_spawn("data/sales/tool", ["tool"], {}))'],
  [
    'a pipe that a program of the host reads',
    'attempt("pipe", lambda: os.open("data/sales/pipe-of-host", os.O_WRONLY | os.O_NONBLOCK))',
  ],
];

/** Says on the report pipe what the worker would say. */
const FORGE =
  FIND_CHANNEL +
  py`
  import json, os
  def say(kind, data):
      body = data if isinstance(data, bytes) else json.dumps(data).encode()
      text = len(body).to_bytes(4, "big") + kind + body
      while text:
          text = text[os.write(REPORT, text):]
  violation = {"line": 1, "column": 1, "rule": "import", "what": "x", "message": "forged"}
  summary = {"imports": ["forged"], "reads": [], "writes": [], "plots": False, "dataFrames": False, "functions": [],
             "lines": 1, "text": "forged"}
`;
const NO_SOCKET: Partial<ScopeRules> = { blockedImports: ['socket'] };
/** An import that no reading of the code finds. */
const LEAVE = '__import__("".join(map(chr, [115, 111, 99, 107, 101, 116])))';
/** Pungi's own classes, which are in no list of modules. */
const FIND_OWN =
  'own = [one for one in getattr(object, "__subcl" + "asses__")() if one.__module__.startswith("pungi.")]';

const kindIs =
  (...kinds: Outcome['verdict']['kind'][]) =>
  ({ verdict }: Outcome) =>
    kinds.includes(verdict.kind) ? undefined : JSON.stringify(verdict).slice(0, 500);

const deniedForSocket = ({ verdict, stdout }: Outcome): string | undefined =>
  verdict.kind === 'denied' && verdict.violations?.[0]?.what === 'socket' && !stdout.text.includes('went on')
    ? undefined
    : `${JSON.stringify(verdict).slice(0, 500)} ${stdout.text}`;

const SCOPE: ProfileAttack[] = [
  {
    name: 'a forged summary, where one is asked for',
    code: `${FORGE}\nfor _ in range(50): say(b"S", summary)\n`,
    summarize: true,
    judge: (outcome, summary) =>
      summary?.imports.join() === 'os,json'
        ? kindIs('ok')(outcome)
        : `the summary is ${JSON.stringify(summary)}`,
  },
  {
    name: 'a forged summary, where none is asked for',
    code: `${FORGE}\nsay(b"S", summary)\n`,
    judge: (outcome, summary) => (summary === null ? kindIs('ok')(outcome) : 'it was believed'),
  },
  {
    name: 'a forged summary by a child that outlives the run',
    code: `${FORGE}\nif os.fork() == 0:\n    while True: say(b"S", summary)\n`,
    summarize: true,
    judge: (outcome, summary) =>
      summary?.imports.join() === 'os,json'
        ? kindIs('ok')(outcome)
        : `the summary is ${JSON.stringify(summary)}`,
  },
  {
    name: 'forged violations, where there are no rules',
    code: `${FORGE}\nsay(b"V", {"violations": [violation]})\nsay(b"R", {"violations": [violation]})\nos._exit(7)\n`,
    judge: kindIs('exited'),
  },
  {
    name: 'forged violations in a run that ends well',
    code: `${FORGE}\nsay(b"R", {"violations": [violation]})\nprint("held")\n`,
    rules: NO_SOCKET,
    judge: held,
  },
  ...(
    [
      ['of strange shapes', 'b\'{"violations":[{"line":1e999,"rule":{},"__proto__":{"kind":"ok"}}]}\''],
      ['that are none', 'b"[" * 100000'],
      ['nested a hundred thousand deep', 'b\'{"violations":\' + b"[" * 100000 + b"]" * 100000 + b"}"'],
      ['of half a megabyte', '{"violations": [violation | {"message": "x" * 500000}]}'],
      ['by the thousand', '{"violations": [violation] * 5000}'],
    ] as const
  ).map(
    ([what, body]): ProfileAttack => ({
      name: `forged violations ${what}`,
      code: `${FORGE}\nsay(b"V", ${body})\nimport time\ntime.sleep(20)\n`,
      rules: NO_SOCKET,
      judge: (outcome) =>
        JSON.stringify(outcome).length < 60_000
          ? kindIs('denied')(outcome)
          : 'the outcome is as long as it liked',
    }),
  ),
  {
    name: 'forged violations and a good end in one breath',
    code: `${FORGE}\nbody = json.dumps({"violations": [violation]}).encode()\nos.write(REPORT, len(body).to_bytes(4, "big") + b"V" + body + b"\\0\\0\\0\\x02D{}")\nimport time\ntime.sleep(20)\n`,
    rules: NO_SOCKET,
    judge: ({ verdict }) =>
      verdict.kind === 'denied' && verdict.violations?.length === 1 ? undefined : JSON.stringify(verdict),
  },
  {
    name: 'a forged value, then leaving the scope',
    code: `${FORGE}\nsay(b"R", {"value": {"type": "int", "repr": "1"}})\n${LEAVE}\nprint("went on")\n`,
    rules: NO_SOCKET,
    judge: deniedForSocket,
  },
  {
    name: 'a forged good end, then leaving the scope',
    code: `${FORGE}\nsay(b"D", {"value": {"type": "int", "repr": "1"}})\n${LEAVE}\nprint("went on")\n`,
    rules: NO_SOCKET,
    // Who says that it has finished is ended.
    judge: (outcome) => (outcome.stdout.text === '' ? kindIs('ok', 'denied')(outcome) : outcome.stdout.text),
  },
  ...(
    [
      ['closes the report pipe', 'os.close(REPORT)'],
      [
        'puts a file in its place',
        'try: os.dup2(os.open("x", os.O_CREAT | os.O_RDWR), REPORT)\nexcept OSError: os.close(REPORT)',
      ],
      ['has begun a frame of its own', 'os.write(REPORT, b"\\x00\\x0f\\x00\\x00R")'],
      ['has filled it with garbage', 'os.write(REPORT, b"\\xff" * 60000)'],
      ['makes it not wait', 'os.set_blocking(REPORT, False)'],
    ] as const
  ).map(
    ([what, line]): ProfileAttack => ({
      name: `code that ${what} and leaves the scope`,
      code: `${FIND_CHANNEL}\n${line}\n${LEAVE}\nprint("went on")\n`,
      rules: NO_SOCKET,
      judge: (outcome) => (outcome.stdout.text === '' ? kindIs('denied', 'exited')(outcome) : 'it went on'),
    }),
  ),
  {
    name: 'a child that leaves the scope while its parent ends well',
    code: py`
      import os
      if os.fork() == 0:
          ${LEAVE}
          os.write(1, b"went on")
    `,
    rules: NO_SOCKET,
    judge: (outcome) => (outcome.stdout.text === '' ? kindIs('denied', 'ok')(outcome) : 'it went on'),
  },
  {
    name: 'a child that closes the report pipe and leaves the scope',
    code:
      FIND_CHANNEL +
      py`
      child = os.fork()
      if child == 0:
          os.close(REPORT)
          ${LEAVE}
          os.write(1, b"went on")
      print("held" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1 else "the child lived")
    `,
    rules: NO_SOCKET,
    judge: held,
  },
  {
    name: 'many children that leave the scope',
    code: py`
      import os, signal
      for _ in range(20):
          if os.fork() == 0:
              ${LEAVE}
              os.write(1, b"went on")
      signal.pause()
    `,
    rules: NO_SOCKET,
    judge: deniedForSocket,
  },
  {
    name: 'taking the guard out of the interpreter and going for the network',
    // Scope is no boundary: whoever gets past the guard stands before the sandbox.
    code: py`
      ${FIND_OWN}
      rules = [one for one in own if one.__name__ == "Rules"]
      assert rules
      for one in rules: one.refuses_import = lambda *_: None
      try:
          ${LEAVE}.create_connection(("127.0.0.1", context["port"]), timeout=2)
          print("connected")
      except OSError:
          print("held")
    `,
    rules: NO_SOCKET,
    judge: (outcome) => (outcome.verdict.kind === 'denied' ? undefined : held(outcome)),
  },
  {
    name: 'replacing what the guard calls when it ends the run',
    code: py`
      import os, sys
      os._exit = sys.exit = lambda *_: None
      ${FIND_OWN}
      for module in [getattr(part, "__globals__", {}) for one in own for part in vars(one).values()]:
          for name in {"write_all", "pack", "encode_json", "cut"} & module.keys():
              module[name] = lambda *_: None
      try:
          ${LEAVE}
      except BaseException:
          pass
      print("went on")
    `,
    rules: NO_SOCKET,
    judge: (outcome) =>
      outcome.stdout.text.includes('went on') ? 'it went on' : kindIs('denied', 'exited')(outcome),
  },
  {
    name: 'a stream of its own that works while the guard tells',
    code: py`
      import os, sys
      class Stream:
          def write(self, text): return len(text)
          def flush(self): os.write(1, b"went on")
      sys.stdout = sys.stderr = Stream()
      ${LEAVE}
    `,
    rules: NO_SOCKET,
    judge: deniedForSocket,
  },
  {
    name: 'a program that is started to leave the scope',
    code: 'import subprocess, sys\nsubprocess.run([sys.executable, "-c", "import socket; print(1)"])\nprint("went on")\n',
    rules: { ...NO_SOCKET, blockedOperations: ['process'] },
    judge: kindIs('denied'),
  },
  {
    name: 'native code that is called to leave the scope',
    code: 'import ctypes\nctypes.CDLL(None).system(b"echo went on")\n',
    rules: { blockedOperations: ['process'] },
    judge: kindIs('denied'),
  },
];

export const PROFILE_ATTACKS: readonly ProfileAttack[] = [
  ...WORKSPACE.map(
    ([why, tries]): ProfileAttack => ({ name: `data: ${why}`, code: reach(tries), judge: held }),
  ),
  {
    name: 'data: loading native code from it',
    code: reach('attempt("load", lambda: ctypes.CDLL(os.path.join(real, "library.so")))'),
    // Landlock does not rule what is mapped; a run can as well write such a file itself.
    tiers: ['namespace'],
    judge: held,
  },
  {
    name: 'data: another folder in its place, for the next run',
    code: py`
      import os, shutil
      shutil.rmtree("data")
      os.makedirs("data/sales")
      open("data/sales/rows.csv", "w").write("replaced")
      print("held")
    `,
    judge: held,
  },
  {
    name: 'data: a file beside it, left for the next run',
    code: 'open("data/left", "w").write("left")\nimport os\nos.chmod("data", 0)\nprint("held")\n',
    judge: held,
  },
  {
    name: 'data: reading it through a package while the code itself may not open files',
    code: py`
      import frames
      print("held" if frames.read("data/sales/rows.csv") == "a,b\n1,2\n" else "another file")
    `,
    rules: { allowedImports: ['frames'], blockedBuiltins: ['open'], blockedOperations: ['file'] },
    judge: held,
  },
  ...['open("data/sales/rows.csv")', 'import pathlib\npathlib.Path("data/sales/rows.csv").read_text()'].map(
    (code): ProfileAttack => ({
      name: `data: reading it by ${code.split('\n').at(-1)!.split('(')[0]} where files are out of scope`,
      code: `${code}\nprint("read")\n`,
      rules: { blockedOperations: ['file'] },
      judge: kindIs('denied'),
    }),
  ),
  ...SCOPE.map((attack) => ({ ...attack, name: `scope: ${attack.name}` })),
];
