import { readFileSync } from 'node:fs';
import type { TestPackage } from '../../../../tests/support/package-world.js';

/** What packages try to reach while they load. */
export interface LoadingTargets {
  udp: number;
  unix: string;
  abstract: string;
  file: string;
}

/** Modules that do harm as soon as they are imported, each as small as it can be. */
export const HARM = {
  hungry: 'kept = []\nwhile True: kept.append(bytearray(b"x") * 2**24)\n',
  forking: 'import os\nfor _ in range(9): os.fork()\nwhile True: pass\n',
  endless: 'while True: pass\n',
  asleep: 'import time\ntime.sleep(600)\n',
  loud: 'import os\nwhile True: os.write(2, b"x" * 65536)\n',
  lines: 'import os\nwhile True: os.write(2, b"\\n" * 65536)\n',
  thread:
    'import threading, time\nthreading.Thread(target=time.sleep, args=(600,), name="keeper", daemon=True).start()\n',
  process: 'import subprocess\nkept = subprocess.Popen(["/bin/sleep", "600"])\n',
  orphan:
    'import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    while True: os.sched_yield()\nos.wait()\n',
  // /proc shows no memory of a process whose first thread has ended.
  headless: [
    'import ctypes, os, threading',
    'def fill(kept=[]):',
    '    while len(kept) < 90: kept.append(bytearray(b"x") * 2**24)',
    '    threading.Event().wait()',
    'if os.fork() == 0:',
    '    threading.Thread(target=fill).start()',
    '    ctypes.CDLL(None).pthread_exit(None)',
    'os.wait()',
    '',
  ].join('\n'),
  leaving: 'import os\nos._exit(0)\n',
  crashing: 'import ctypes\nctypes.string_at(0)\n',
  filling:
    'import os, tempfile\nwhile True:\n    with tempfile.NamedTemporaryFile(delete=False) as file: file.write(b"x" * 2**22)\n',
} as const;

/** Sources that take the compiler gigabytes or minutes, and a wheel of some kilobytes. */
export const COMPILE_BOMBS = {
  table: `x = [${'0,'.repeat(4_000_000)}]\n`,
  statements: 'a=b\n'.repeat(2_500_000),
  nesting: `x = ${'('.repeat(150)}${'-'.repeat(500_000)}1${')'.repeat(150)}\n`,
  folding: `x = ${`((${'9'.repeat(4000)}**9)**9)**9,`.repeat(1000)}\n`,
} as const;

const ZEROS = '\0'.repeat(30 * 2 ** 20);
const manyFiles = (module: string) =>
  Object.fromEntries(
    Array.from({ length: 1500 }, (_, n) => [`${module}/f${n}.bin`, ZEROS.slice(0, 40 * 1024)]),
  );

/** Wheels of some kilobytes that are larger than the environment may be, each in another way. */
export const ZIP_BOMBS = {
  files: () => ({ 'unpacking_files/a.bin': ZEROS, 'unpacking_files/b.bin': ZEROS }),
  single: () => ({ 'unpacking_single.bin': ZEROS + ZEROS }),
  many: () => manyFiles('unpacking_many'),
  data: () => ({
    'unpacking_data-1.0.data/data/share/a': ZEROS,
    'unpacking_data-1.0.data/data/share/b': ZEROS,
  }),
} as const;

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');

/** For the index of the attack table. `harm-X` has a .pth file, `quiet-X` the same module alone. */
export const loadingPackages = (targets: LoadingTargets): TestPackage[] => [
  {
    name: 'probe',
    version: '1.0',
    files: {
      'probe_attempts.py': fixture('probe_attempts.py'),
      'probe_targets.json': JSON.stringify(targets),
      'probe_start.py': 'import sys, probe_attempts\nsys.probe = probe_attempts.attempt()\n',
      'probe.pth': 'import probe_start\n',
      'probed.py': 'import probe_attempts\nDONE = probe_attempts.attempt()\n',
    },
  },
  ...Object.entries(HARM).flatMap(([name, source]): TestPackage[] => [
    {
      name: `harm-${name}`,
      version: '1.0',
      files: { [`harm_${name}_start.py`]: source, [`harm_${name}.pth`]: `import harm_${name}_start\n` },
    },
    { name: `quiet-${name}`, version: '1.0', files: { [`quiet_${name}.py`]: source } },
  ]),
  {
    name: 'half',
    version: '1.0',
    files: {
      'half/__init__.py': 'from . import first, second\n',
      'half/first.py': '',
      'half/second.py': "raise OSError('no folder to write to')\n",
    },
  },
  ...Object.entries(COMPILE_BOMBS).map(
    ([name, source]): TestPackage => ({
      name: `bomb-${name}`,
      version: '1.0',
      files: { [`bomb_${name}.py`]: source },
    }),
  ),
  ...Object.entries(ZIP_BOMBS).map(([name, files]) => ({
    name: `unpacking-${name}`,
    version: '1.0',
    get files() {
      return files();
    },
  })),
];
