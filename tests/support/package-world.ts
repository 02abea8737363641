import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { py } from './python.js';

export interface TestPackage {
  name: string;
  version: string;
  requires?: string[];
  extras?: Record<string, string[]>;
  requiresPython?: string;
  /** Path in site-packages → content; a module with `__version__` if not given. */
  files?: Record<string, string>;
  /** Console scripts: command → `module:function`. */
  scripts?: Record<string, string>;
  /** As a source distribution, which is then the only file unless `wheel` is set. */
  sdist?: boolean;
  wheel?: boolean;
  /** Files of the source distribution, with backend.py, its PEP 517 backend, among them. */
  backend?: Record<string, string>;
  /** Adds so much data that no compression helps with. */
  sizeMb?: number;
  /** Paths that RECORD claims besides: an uninstall that believes it deletes them. */
  claims?: string[];
  /** The answer with the file takes this long. */
  trickleMs?: number;
  /** The wheel ends in the middle, though its hash is right; or the page has a wrong hash for it. */
  flaw?: 'truncated' | 'wrong-hash';
}

const fixture = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../packages/core/tests/environments/fixtures', name), 'utf8');

const apple = (version: string): TestPackage => ({
  name: 'apple',
  version,
  files: {
    'apple.py': py`
      __version__ = '${version}'


      def slices(count):
          return ['slice'] * count
    `,
  },
});

const MANY = Array.from({ length: 300 }, (_, index) => `m${String(index).padStart(3, '0')}`);

/** What the .pth file of `pthed` starts. Whoever may write to the environment leaves a file beside it. */
const PTHED_START = py`
  import os
  import sys

  sys.pthed_ran = True
  try:
      with open(os.path.join(os.path.dirname(__file__), 'pthed-was-here'), 'a') as file:
          file.write(f'{os.getpid()} {sys.argv}\n')
  except OSError:
      pass
`;

/** Takes the place of the environment's interpreter, and leaves a file beside itself when it is started. */
const HIJACK = '#!/bin/sh\necho "$0 $*" >> "$(dirname "$0")/hijack-was-here"\n';

/** What a backend tries; each that it achieves is in `evilsource.REPORT` of the wheel that it builds. */
export interface EvilTargets {
  /** Files to append to; `~` is expanded. */
  write?: string[];
  read?: string[];
  connect?: [host: string, port: number][];
}

/** A source distribution whose backend does harm as soon as anything imports it. */
export const evilSource = ({ write = [], read = [], connect = [] }: EvilTargets): TestPackage => ({
  name: 'evilsource',
  version: '1.0',
  sdist: true,
  backend: {
    'backend.py': fixture('evil_backend.py'),
    'source_backend.py': fixture('source_backend.py'),
    'targets.json': JSON.stringify({ write, read, connect }),
  },
});

/** The small world of the tests. Built when it is asked for, so that what is large costs nothing to the others. */
export const PACKAGES: TestPackage[] = [
  apple('1.0'),
  apple('1.1'),
  apple('2.0'),
  { name: 'banana', version: '1.0', requires: ['apple>=1.1'] },
  { name: 'cherry', version: '1.0', requires: ['apple<2'] },
  { name: 'durian', version: '1.0', requires: ['banana', 'cherry'] },
  { name: 'clash', version: '1.0', requires: ['apple>=2'] },
  { name: 'opencv-python', version: '9.0', files: { 'cv2/__init__.py': "__version__ = '9.0'\n" } },
  { name: 'extras-pkg', version: '1.0', extras: { fruit: ['banana'] } },
  {
    name: 'onlysource',
    version: '1.0',
    sdist: true,
    backend: { 'backend.py': fixture('source_backend.py') },
  },
  evilSource({ write: ['~/evilsource-was-here'] }),
  {
    name: 'pthed',
    version: '1.0',
    files: {
      'pthed.py': "__version__ = '1.0'\n",
      'pthed_start.py': PTHED_START,
      'pthed.pth': 'import pthed_start\n',
    },
  },
  {
    name: 'scripted',
    version: '1.0',
    files: { 'scripted.py': "def main():\n    print('scripted says hello')\n" },
    scripts: { 'scripted-hello': 'scripted:main' },
  },
  { name: 'native-free', version: '1.0', sizeMb: 30 },
  { name: 'needs-new-python', version: '1.0', requiresPython: '>=3.99' },
  { name: 'broken-wheel', version: '1.0', flaw: 'truncated' },
  { name: 'badhash', version: '1.0', flaw: 'wrong-hash' },
  {
    name: 'traversal',
    version: '1.0',
    files: { 'traversal.py': '', '../../escaped.py': "raise SystemExit('escaped')\n" },
  },
  { name: 'claimant', version: '1.0', claims: ['../../../../claimed.txt'] },
  { name: 'hijack', version: '1.0', files: { 'hijack-1.0.data/scripts/python': HIJACK } },
  { name: 'own-python', version: '1.0', scripts: { python3: 'own_python:main' } },
  {
    name: 'rehome',
    version: '1.0',
    files: { 'rehome-1.0.data/data/pyvenv.cfg': 'home = /nowhere\n' },
  },
  { name: 'slowpkg', version: '1.0', trickleMs: 4000 },
  {
    name: 'many',
    version: '1.0',
    files: {
      'many/__init__.py': '',
      ...Object.fromEntries(MANY.map((module) => [`many/${module}.py`, `NAME = '${module}'\n`])),
    },
  },
  { name: 'shout', version: '1.0', files: { 'shout.py': "print('shout is imported')\n" } },
];
