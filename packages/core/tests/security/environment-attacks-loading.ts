import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pungi } from '../../src/pungi.js';
import { codeOf, type EnvironmentAttack, type Ground, told } from './environment-attack.js';
import { COMPILE_BOMBS, type HARM, ZIP_BOMBS } from './loading-packages.js';
import { descendantsOf } from './process-tree.js';

const PROBES: [name: string, what: string][] = [
  ['the keys of whoever started the server', 'keyring'],
  ['io_uring', 'io_uring'],
  ['userfaultfd', 'userfaultfd'],
  ['a memfd', 'memfd'],
  ['SysV shared memory', 'shared memory'],
  ['bpf', 'bpf'],
  ['perf events', 'perf'],
  ['ptrace', 'ptrace'],
  ['a user namespace', 'user namespace'],
  ['a mount namespace', 'mount namespace'],
  ['UDP of the host', 'udp'],
  ['a unix socket of the host', 'unix socket'],
  ['an abstract unix socket of the host', 'abstract socket'],
  ['a file of the host', 'host file'],
  ['the mode of a file of the host', 'file mode'],
  ['the work folders of other environments', 'other work'],
  ['the socket of the server', 'server socket'],
  ['the folder of its own packages', 'package folder'],
];

/** A server of its own with another preload list, in an environment that is gone afterwards. */
async function withPackage<T>(
  { pungi }: Ground,
  packages: string[],
  preloadModules: string[],
  use: (own: Pungi) => Promise<T>,
): Promise<T> {
  await pungi.environments.create({ venvName: 'harmed', packages });
  const isSlow = packages.some((name) => /endless|asleep/.test(name));
  const own = Pungi.start({ ...pungi.config, preloadModules, preloadTimeoutMs: isSlow ? 3000 : 60_000 });
  try {
    return await use(own);
  } finally {
    await own.close();
    await pungi.environments.delete({ venvName: 'harmed', confirm: true });
  }
}

/** What a .pth file and a preload achieved, each once: all rows of the kind look at the same. */
let probing: Promise<Record<'pth' | 'preload', string[]>> | undefined;
const probe = async (ground: Ground, way: 'pth' | 'preload', what: string) => {
  probing ??= withPackage(ground, ['probe'], ['probed'], async (own) => {
    const code = 'import sys\n{"pth": sys.probe, "preload": sys.modules["probed"].DONE}';
    const { verdict, value } = await own.run({ code, venvName: 'harmed' });
    if (verdict.kind !== 'ok') throw new Error(verdict.message);
    return value!.json as Record<'pth' | 'preload', string[]>;
  });
  return (await probing)[way].includes(what) ? 'reached' : 'held';
};

const inRun = (ground: Ground, name: string) =>
  withPackage(ground, [`harm-${name}`], [], async (own) => {
    const { verdict } = await own.run({ code: 'print("ran")', venvName: 'harmed' });
    const beside = told(await own.run({ code: 'import apple\nprint("served")', venvName: 'other' }));
    return `${'message' in verdict ? verdict.message : 'ok'} ${beside}`;
  });

const preloaded = (ground: Ground, module: string, distribution: string) =>
  withPackage(ground, [distribution], [module], async (own) => {
    const code = `import sys\nprint([name for name in sys.modules if name.startswith(${JSON.stringify(module)})])`;
    const result = told(await own.run({ code, venvName: 'harmed' }));
    const { preloads } = await own.health('harmed');
    return `${result} ${preloads.map(({ problem }) => problem).join()}`;
  });

/** The most that a process below this one held, in MB. */
async function peakWhile(work: Promise<unknown>): Promise<number> {
  let peak = 0;
  let isOver = false;
  void work.catch(() => {}).finally(() => (isOver = true));
  while (!isOver) {
    for (const { pid } of descendantsOf(process.pid)) peak = Math.max(peak, residentMb(pid));
    await pause(20);
  }
  return peak;
}

function residentMb(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4) / 1024;
  } catch {
    return 0;
  }
}

const REASONS: Record<keyof typeof HARM, RegExp> = {
  hungry: /took more than 1024 MB of memory|MemoryError/,
  forking: /started more than 64 processes and threads/,
  endless: /took longer than \d+ seconds/,
  asleep: /took longer than \d+ seconds/,
  loud: /printed more than 1 MB/,
  lines: /printed more than 1 MB/,
  thread: /threads? running/,
  process: /process running/,
  orphan: /process running/,
  headless: /ended the first thread of a process/,
  leaving: /ended the interpreter/,
  crashing: /ended the interpreter/,
  filling: /wrote more than|No space left|File too large/,
};
type Harm = keyof typeof HARM;
const AS_PTH: Harm[] = [
  'hungry',
  'forking',
  'endless',
  'loud',
  'thread',
  'process',
  'orphan',
  'headless',
  'leaving',
  'crashing',
];
const AS_PRELOAD: Harm[] = [
  'hungry',
  'forking',
  'asleep',
  'lines',
  'thread',
  'process',
  'orphan',
  'headless',
  'leaving',
  'filling',
];

export const LOADING_ATTACKS: EnvironmentAttack[] = [
  ...PROBES.flatMap(([name, what]): EnvironmentAttack[] => [
    {
      name: `a .pth file that reaches for ${name}`,
      attempt: (ground) => probe(ground, 'pth', what),
      expect: 'held',
    },
    {
      name: `a preload that reaches for ${name}`,
      attempt: (ground) => probe(ground, 'preload', what),
      expect: 'held',
    },
  ]),
  ...AS_PTH.map(
    (name): EnvironmentAttack => ({
      name: `a .pth file that does harm: ${name}`,
      attempt: (ground) => inRun(ground, name),
      expect: new RegExp(`cannot be loaded: .*(${REASONS[name].source}).* served$`, 's'),
    }),
  ),
  ...AS_PRELOAD.map(
    (name): EnvironmentAttack => ({
      name: `a preload that does harm: ${name}`,
      attempt: (ground) => preloaded(ground, `quiet_${name}`, `quiet-${name}`),
      expect: new RegExp(`^\\[\\] .*(${REASONS[name].source})`, 's'),
    }),
  ),
  {
    name: 'a preload that fails in the middle',
    attempt: (ground) => preloaded(ground, 'half', 'half'),
    expect: /^\[\] OSError: no folder to write to/,
  },
  ...Object.keys(COMPILE_BOMBS).map(
    (name): EnvironmentAttack => ({
      name: `a wheel that explodes while it is compiled: ${name}`,
      attempt: async ({ pungi }) => {
        const made = codeOf(pungi.environments.create({ venvName: 'harmed', packages: [`bomb-${name}`] }));
        const peak = await peakWhile(made);
        const code = await made;
        await pungi.environments.delete({ venvName: 'harmed', confirm: true }).catch(() => {});
        return peak > 700 ? `took ${peak.toFixed(0)} MB` : code;
      },
      expect: 'installed',
    }),
  ),
  ...Object.keys(ZIP_BOMBS).map(
    (name): EnvironmentAttack => ({
      name: `a wheel that unpacks to more than an environment may be: ${name}`,
      attempt: async ({ pungi, base }) => {
        const own = Pungi.start({ ...pungi.config, maxEnvironmentMb: 40 });
        const cache = join(base, '.cache');
        const before = sizeMb(cache);
        const code = await codeOf(
          own.environments.create({ venvName: 'harmed', packages: [`unpacking-${name}`] }),
        ).finally(() => own.close());
        const grown = sizeMb(cache) - before;
        return grown > 1 ? `left ${grown.toFixed(0)} MB in the cache` : code;
      },
      expect: 'PACKAGE_INSTALLATION_ERROR',
    }),
  ),
];

/** Each file once, however many links it has. */
function sizeMb(folder: string): number {
  return Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) / 1024;
}
