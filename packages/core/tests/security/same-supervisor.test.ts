import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import type { Pungi } from '../../../pungi/src/index.js';
import { publicInterpreter, withPungi } from '../engine/pungi.js';

const PUNGI_PYTHON = await publicInterpreter();

/** What a run may try to leave for the next one that the same supervisor parks. */
const LEFTOVERS: [name: string, code: string][] = [
  [
    'files and folders',
    'import os\nfor folder in places: open(f"{folder}/.left", "w").write("left"); os.mkdir(f"{folder}/deep")',
  ],
  [
    'attributes of the folders',
    'import os\nfor folder in places: attempt(lambda: os.setxattr(folder, "user.left", b"x"))',
  ],
  ['modes of the folders', 'import os\nfor folder in places: attempt(lambda: os.chmod(folder, 0o777))'],
  ['times of the folders', 'import os\nfor folder in places: attempt(lambda: os.utime(folder, (1, 1)))'],
  [
    'attributes above the folders',
    'import os\nfor folder in ("/box", "/"): attempt(lambda: os.setxattr(folder, "user.left", b"x"))',
  ],
  ['a module that the next run would import', 'open("json.py", "w").write("print(\'EVIL\')")'],
  [
    'names of shared memory and semaphores',
    'import _multiprocessing, _posixshmem\n_posixshmem.shm_open("/left", 66)\n_multiprocessing.SemLock(1, 1, 1, "/left", False)',
  ],
  [
    'a template that is stopped',
    'import os, signal\nif os.getppid() == 1:\n    attempt(lambda: os.kill(-1, signal.SIGSTOP))',
  ],
  [
    'flags of its standard input',
    'import fcntl, os\nfcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)',
  ],
  [
    'a port that nobody called',
    'import socket\nattempt(lambda: [socket.create_server(("127.0.0.1", 4000)), socket.if_nameindex()])',
  ],
  [
    'bytes of the memory and code that runs have in common',
    [
      'import ctypes, os, sys',
      'libc, page = ctypes.CDLL(None), os.sysconf("SC_PAGE_SIZE")',
      'copyright = ctypes.cast(ctypes.pythonapi.Py_GetCopyright, ctypes.c_void_p).value',
      'for address in (id(sys.copyright) + 64, copyright):',
      '    start = ctypes.c_void_p(address // page * page)',
      '    assert libc.mprotect(start, page, 7) == 0',
      '    ctypes.memmove(address, b"left", 4)',
      '    attempt(lambda: os.pwrite(os.open("/proc/self/mem", os.O_RDWR), b"left", address))',
      '    libc.madvise(start, page, 9)  # MADV_REMOVE: from its file, too',
      'for line in open("/proc/self/maps"):',
      '    if "memfd" in line:',
      '        attempt(lambda: os.pwrite(os.open("/proc/self/map_files/" + line.split()[0], os.O_RDWR), b"left" * 64, 0))',
    ].join('\n'),
  ],
  ['variables and working folder', 'import os\nos.environ["LEFT"] = "x"\nos.chdir("/")\nos.umask(0)'],
];

/** The same, but in the namespace tier the template ends with the run. */
const ENDINGS: [name: string, code: string][] = [
  ['a process that waits', 'import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)'],
  [
    'a process that is given to the supervisor',
    'import ctypes, os, time\nif os.getppid() == 1 and ctypes.CDLL(None).syscall((56, 220)[os.uname().machine == "aarch64"], 0x8011, 0, 0, 0, 0) == 0:\n    time.sleep(60)',
  ],
  [
    'a template that has ended',
    'import os, signal\nif os.getppid() == 1:\n    attempt(lambda: os.kill(-1, signal.SIGKILL))',
  ],
  [
    'signals that wait for the template',
    'import os, signal\nfor number in range(1, 65) if os.getppid() == 1 else ():\n    attempt(lambda: os.kill(-1, number))',
  ],
  [
    'a template that has ended, while the run goes on and locks files',
    'import fcntl, os, signal\nif os.getppid() == 1:\n    attempt(lambda: os.kill(-1, signal.SIGKILL))\n    while os.path.exists("/proc/2"): pass\n    fcntl.flock(open("locked", "w"), fcntl.LOCK_EX)',
  ],
  [
    'a template that was ended through its folder in /proc',
    'import os, signal\nothers = filter(str.isdigit, os.listdir("/proc") if os.getppid() == 1 else ())\nfor n in {*others} - {"1", str(os.getpid())}:\n    attempt(lambda: signal.pidfd_send_signal(os.open(f"/proc/{n}", os.O_RDONLY), signal.SIGKILL))',
  ],
];

const PLACES = py`
  import os, tempfile
  places = [os.getcwd(), tempfile.gettempdir()] + ["/dev/shm" if os.getppid() == 1 else os.path.dirname(tempfile.gettempdir()) + "/pungi-shm"]
  def attempt(action):
      try:
          action()
      except OSError:
          pass
`;

/** Everything that a run can see of a place, but for the identity of the supervisor on the last line. */
const LOOK = py`
  import json, stat
  def attributes(path):
      try:
          return os.listxattr(path)
      except OSError as error:
          return error.errno
  for folder in places + [f for f in ("/box", "/", "/dev/pts", "/dev/pts/ptmx") if os.path.exists(f)]:
      seen = os.stat(folder)
      old = seen.st_mtime < 1000
      entries = sorted(os.listdir(folder)) if folder in places else []
      print(folder, stat.filemode(seen.st_mode), old, attributes(folder), entries)
  for name in ("dev", "snmp", "snmp6", "netstat", "tcp", "tcp6", "udp", "udp6") if os.getppid() == 1 else ():
      print(open(f"/proc/net/{name}").read())
  others = [n for n in (os.listdir("/proc") if os.getppid() == 1 else []) if n.isdigit()]
  import ctypes, fcntl, sys
  print(sys.copyright, ctypes.string_at(ctypes.cast(ctypes.pythonapi.Py_GetCopyright, ctypes.c_void_p).value, 16))
  print(len(others), os.environ.get("LEFT"), oct(os.umask(0o77)), fcntl.fcntl(0, fcntl.F_GETFL))
`;

const STAYS = 'import os, time\nif os.fork() == 0:\n    time.sleep(60)';

/** Prints the kinds of secrets that are in its memory: its own one shows that they would be found. */
const SCAN = py`
  import ctypes, re
  word = bytes(reversed(b"-terces"))
  own, found = word + b"own-0123456789abcdef", set()
  for line in open("/proc/self/maps"):
      area, rights, *_ = line.split()
      start, end = (int(part, 16) for part in area.split("-"))
      if rights.startswith("rw"):
          found.update(re.findall(word + rb"([a-z]+)-[0-9a-f]{16}", ctypes.string_at(start, end - start)))
  print(*sorted(name.decode() for name in found))
`;

/** One parked and none on its way: the next run goes to the supervisor that had the last one. */
const isSettled = (pungi: Pungi) =>
  until(async () => {
    const { pool } = await pungi.health();
    return pool.parked === 1 && pool.parking === 0 && pool.busy === 0;
  }, 'one worker is parked');

async function runHere(pungi: Pungi, code: string) {
  await isSettled(pungi);
  const outcome = await pungi.run({ code: `${PLACES}\n${code}\n[os.getpid(), os.getcwd()]` });
  expect(outcome.verdict).toEqual({ kind: 'ok' });
  const [pid, folder] = (outcome.value?.json ?? []) as [number, string];
  return { stdout: outcome.stdout.text, pid, folder };
}

describe.each(['namespace', 'landlock'])(
  'in the %s tier, a run finds nothing of the one before it',
  (tier) => {
    const settings = { PUNGI_TIER: tier, POOL_SIZE: '1', PUNGI_PYTHON };

    test.each(LEFTOVERS)('%s', async (_, attack) => {
      await withPungi(settings, async (pungi) => {
        const first = await runHere(pungi, LOOK);
        const attacker = await runHere(pungi, attack);
        const next = await runHere(pungi, LOOK);
        expect(next.stdout).toBe(first.stdout);
        // It was the same supervisor, or the comparison says nothing: its pids go on, its folder keeps its name.
        if (tier === 'namespace') expect(next.pid).toBeGreaterThan(attacker.pid);
        else expect(next.folder).toBe(first.folder);
      });
    });

    test.each(ENDINGS)('%s', async (_, attack) => {
      await withPungi(settings, async (pungi) => {
        const first = await runHere(pungi, LOOK);
        const attacker = await runHere(pungi, attack);
        const next = await runHere(pungi, LOOK);
        expect(next.stdout).toBe(first.stdout);
        // The supervisor has had a run, so it starts no other template.
        if (tier === 'namespace') expect(next.pid).toBeLessThan(attacker.pid);
        else expect(next.folder).toBe(first.folder);
      });
    });

    test.each([
      ['its code, input, output and value in memory', ''],
      ['the same, where a process was left behind', STAYS],
    ])('%s', async (_, attack) => {
      const secret = (name: string) => `secret-${name}-${randomBytes(8).toString('hex')}`;
      const told = `print(${JSON.stringify(secret('output'))}, sys.stdin.read())`;
      await withPungi(settings, async (pungi) => {
        await isSettled(pungi);
        const { verdict } = await pungi.run({
          code: `import sys\n${told}\n${attack}\n${JSON.stringify(secret('value'))}`,
          context: secret('context'),
          stdin: secret('input'),
          files: [{ path: 'file.txt', text: secret('file') }],
        });
        expect(verdict).toEqual({ kind: 'ok' });
        expect((await runHere(pungi, SCAN)).stdout).toBe('own\n');
      });
    });
  },
);

/** Connections that wait for their end, counters and route caches stay in a network namespace, attributes in a file system. */
const TRACES: [name: string, code: string][] = [
  [
    'TCP',
    'server = socket.create_server(("127.0.0.1", 4000))\nfor _ in range(20): socket.create_connection(server.getsockname()).close()',
  ],
  [
    'UDP that nobody received',
    's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b"x", ("127.0.0.1", 9))',
  ],
  [
    'version 6',
    's = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\ns.bind(("::1", 4000))\ns.sendto(b"x", ("::1", 4000))',
  ],
  ['an address that cannot be reached', 'socket.socket().connect_ex(("192.0.2.1", 80))'],
  ['the mode of its terminals', 'os.chmod("/dev/pts/ptmx", 0)'],
  ['the times of its terminals', 'os.utime("/dev/pts/ptmx", (1, 1))'],
];

describe('in the namespace tier, a run finds nothing that one before it left', () => {
  test.each(TRACES)('%s', async (_, trace) => {
    await withPungi({ PUNGI_TIER: 'namespace', POOL_SIZE: '1' }, async (pungi) => {
      const first = await runHere(pungi, LOOK);
      await runHere(pungi, `import socket\n${trace}`);
      expect((await runHere(pungi, LOOK)).stdout).toBe(first.stdout);
    });
  });
});
