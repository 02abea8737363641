import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { Pungi } from '../../../pungi/src/index.js';
import {
  listeningLogger,
  printed,
  publicInterpreter,
  startPungi,
  temporaryFolder,
  verdictOf,
} from '../engine/pungi.js';
import { openWorld } from './world.js';

const world = await openWorld();
const TIERS = ['namespace', 'landlock'] as const;
/** An interpreter with a package of its own, and a .pth file of it that leaves a mark where it is run. */
const hostPython = await makeHostPython();
const VERSION = 'import apple; print(apple.__version__)';
/** A folder for environments of the test's own. */
const own = (settings: Record<string, string> = {}) => ({ VENVS_BASE_PATH: openFolder(), ...settings });
/** One that the sandbox's user can enter. */
function openFolder(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  return folder;
}

describe('the default environment', () => {
  test('is empty until something is installed, and is listed', async () => {
    const settings = own();
    const pungi = world.start(settings);
    const [only, ...others] = await pungi.environments.list();
    expect(others).toEqual([]);
    expect(only).toMatchObject({ venvName: 'default', isDefault: true, state: 'ready', path: null });
    expect(await printed(pungi, { code: 'print(1)' })).toBe('1\n');
    expect(existsSync(join(settings.VENVS_BASE_PATH, '.locks'))).toBe(false);
  });

  test('is filled without failing a run in flight', async () => {
    const pungi = world.start(own());
    const code =
      'print("on", flush=True); import time; deadline = time.time() + 60\nwhile time.time() < deadline: time.sleep(0.01)';
    const stop = new AbortController();
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const running = pungi.run({ code }, { signal: stop.signal, onLine: () => begin() });
    await begun;
    await pungi.environments.install(undefined, ['apple']);
    expect(await printed(pungi, { code: VERSION })).toBe('2.0\n');
    // Still there, until it is asked to end.
    stop.abort();
    expect((await running).verdict.kind).toBe('cancelled');
  });

  test('can have another name', async () => {
    const pungi = world.start(own({ DEFAULT_VENV_NAME: 'main' }));
    await pungi.environments.install('main', ['apple']);
    expect(await printed(pungi, { code: VERSION })).toBe('2.0\n');
    expect((await pungi.run({ code: '1' })).environment).toBe('main');
  });
});

describe("the packages of the host's interpreter", () => {
  /** Says what can be imported here, and by interpreters that the code starts. */
  const SEEN = `
import importlib.util, subprocess, sys
look = "import importlib.util as u, os; print(u.find_spec('ofhost') is not None, 'OF_HOST' in os.environ)"
exec(look)
print(subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout, end="")
`;
  const HIDDEN = 'False False\nFalse False\n';
  const SHOWN = 'True True\nTrue True\n';
  const names = async (pungi: Pungi) => (await pungi.packages()).map(({ name }) => name);
  const counted = async (pungi: Pungi) => {
    const [listed] = await pungi.environments.list();
    const shown = await pungi.environments.show();
    const health = await pungi.health();
    return [listed!.packageCount, shown.packageCount, health.environment!.packageCount];
  };
  /** The packages that a lock file names, and those that it only mentions. */
  const locked = async (pungi: Pungi) => {
    const text = await pungi.environments.export(undefined);
    return [...text.matchAll(/^(?:# {3})?([\w.-]+)==/gm)].map(([, name]) => name).sort();
  };

  test.each(TIERS)('are neither seen nor run by code in the default environment, %s tier', async (tier) => {
    const pungi = world.start(own({ PUNGI_PYTHON: hostPython, PUNGI_TIER: tier }));
    expect(await printed(pungi, { code: SEEN })).toBe(HIDDEN);
    expect([await names(pungi), await counted(pungi), await locked(pungi)]).toEqual([[], [0, 0, 0], []]);
    await pungi.environments.install(undefined, ['apple<2']);
    expect(await printed(pungi, { code: SEEN + VERSION })).toBe(`${HIDDEN}1.1\n`);
    expect([await names(pungi), await counted(pungi), await locked(pungi)]).toEqual([
      ['apple'],
      [1, 1, 1],
      ['apple'],
    ]);
  });

  test.each(TIERS)('are seen with SYSTEM_PACKAGES=true, %s tier', async (tier) => {
    const settings = own({ PUNGI_PYTHON: hostPython, PUNGI_TIER: tier, SYSTEM_PACKAGES: 'true' });
    const pungi = world.start(settings);
    expect(await printed(pungi, { code: SEEN })).toBe(SHOWN);
    expect([await names(pungi), await counted(pungi), await locked(pungi)]).toEqual([
      ['ofhost'],
      [1, 1, 1],
      ['ofhost'],
    ]);
    await pungi.environments.install(undefined, ['apple<2']);
    expect(await printed(pungi, { code: SEEN + VERSION })).toBe(`${SHOWN}1.1\n`);
    expect([await names(pungi), await counted(pungi), await locked(pungi)]).toEqual([
      ['apple', 'ofhost'],
      [2, 2, 2],
      ['apple', 'ofhost'],
    ]);
  });

  test('follow the setting of the server, whichever one the environment was made under', async () => {
    const settings = own({ PUNGI_PYTHON: hostPython });
    const first = world.start(settings);
    await first.environments.install(undefined, ['apple']);
    const asked = world.index.requests.length;
    const second = world.start({ ...settings, SYSTEM_PACKAGES: 'true' });
    expect(await names(second)).toEqual(['apple', 'ofhost']);
    expect(await printed(second, { code: SEEN + VERSION })).toBe(`${SHOWN}2.0\n`);
    const third = world.start(settings);
    expect(await names(third)).toEqual(['apple']);
    expect(await printed(third, { code: SEEN + VERSION })).toBe(`${HIDDEN}2.0\n`);
    expect(await printed(first, { code: SEEN + VERSION })).toBe(`${HIDDEN}2.0\n`);
    expect(world.index.requests.length).toBe(asked);
  });

  test('are not seen in other environments, whatever the setting', async () => {
    const pungi = world.start(own({ PUNGI_PYTHON: hostPython, SYSTEM_PACKAGES: 'true' }));
    await pungi.environments.create({ venvName: 'other' });
    expect(await printed(pungi, { code: SEEN, venvName: 'other' })).toBe(HIDDEN);
  });

  test('of a real interpreter are not seen either', async () => {
    const pungi = world.start(own());
    const code =
      'import importlib.metadata, sys\nprint([path for path in sys.path if path.endswith("-packages") and not path.startswith(sys.prefix)])\nprint(list(importlib.metadata.distributions()))';
    expect(await printed(pungi, { code })).toBe('[]\n[]\n');
  });
});

describe('preinstalled packages', () => {
  test('come in the background: plain code runs at once, what needs them waits and says so', async () => {
    world.index.hang(true);
    const pungi = world.start(own({ PREINSTALLED_PACKAGES: 'banana apple<2' }));
    expect(await printed(pungi, { code: 'import json, os.path; print(json.dumps(1))' })).toBe('1\n');
    expect((await pungi.health()).environment).toMatchObject({ venvName: 'default', state: 'preparing' });
    const steps: string[] = [];
    const needing = pungi.run({ code: VERSION }, { onStep: (step) => steps.push(step) });
    await until(() => steps.length > 0, 'the run says what it waits for');
    expect(steps[0]).toContain('banana, apple<2');
    world.index.hang(false);
    const outcome = await needing;
    expect(outcome.stdout.text).toBe('1.1\n');
    expect(outcome.usage.installMs).toBeGreaterThan(0);
    expect((await pungi.health()).environment).toMatchObject({ state: 'ready' });
  });

  test('are waited for also by an import that hides', async () => {
    world.index.hang(true);
    const pungi = world.start(own({ PREINSTALLED_PACKAGES: 'apple==1.1' }));
    const steps: string[] = [];
    const hiding = pungi.run(
      { code: 'import importlib; print(importlib.import_module("apple").__version__)' },
      { onStep: (step) => steps.push(step) },
    );
    await until(() => steps.length > 0, 'the run says what it waits for');
    world.index.hang(false);
    expect((await hiding).stdout.text).toBe('1.1\n');
  });

  test('are there at the next start without an index', async () => {
    const settings = own({ PREINSTALLED_PACKAGES: 'apple==1.0' });
    const first = world.start(settings);
    expect(await printed(first, { code: VERSION })).toBe('1.0\n');
    const asked = world.index.requests.length;
    const second = world.start(settings);
    expect(await printed(second, { code: VERSION })).toBe('1.0\n');
    expect(world.index.requests.length).toBe(asked);
  });

  test('that cannot be had are told, and everything else works', async () => {
    const logger = listeningLogger();
    const pungi = startPungi(
      { ...world.settings, ...own({ PREINSTALLED_PACKAGES: 'no-such-thing' }) },
      logger,
    );
    try {
      const verdict = verdictOf(await pungi.run({ code: 'import no_such_thing' }), 'python-error');
      expect(verdict.exception).toMatchObject({ missingModule: 'no_such_thing', missingPackage: null });
      expect(await printed(pungi, { code: 'print(1)' })).toBe('1\n');
      const { status, problem } = await pungi.health();
      expect(status).toBe('unhealthy');
      expect(problem).toContain('PREINSTALLED_PACKAGES could not be installed');
      expect(logger.entries.filter(({ message }) => message === problem)).toMatchObject([{ level: 'error' }]);
    } finally {
      await pungi.close();
    }
  });

  test('closing does not wait for them', async () => {
    world.index.hang(true);
    const settings = own({ PREINSTALLED_PACKAGES: 'cherry' });
    const pungi = world.start(settings);
    await printed(pungi, { code: 'print(1)' });
    await pungi.close();
    world.index.hang(false);
    expect(existsSync(join(settings.VENVS_BASE_PATH, 'default'))).toBe(false);
  });
});

describe('a module that is not there', () => {
  test('is installed and the run repeated once, where that is allowed', async () => {
    const pungi = world.start(own({ AUTO_INSTALL: 'true' }));
    const steps: string[] = [];
    const outcome = await pungi.run(
      { code: 'import cv2; print(cv2.__version__)' },
      { onStep: (step) => steps.push(step) },
    );
    expect(outcome.stdout.text).toBe('9.0\n');
    expect(outcome.usage.installMs).toBeGreaterThan(0);
    expect(steps[0]).toContain('opencv-python');
    expect((await pungi.packages()).map(({ name }) => name)).toContain('opencv-python');
  });

  test('that cannot be had says why', async () => {
    const pungi = world.start(own({ AUTO_INSTALL: 'true' }));
    const verdict = verdictOf(await pungi.run({ code: 'import polars' }), 'python-error');
    expect(verdict.exception.hint).toContain('polars could not be');
  });

  test('is not looked for on the index under its own name, where nobody knows its package', async () => {
    const pungi = world.start(own({ AUTO_INSTALL: 'true' }));
    const asked = world.index.requests.length;
    const { exception } = verdictOf(await pungi.run({ code: 'import apple' }), 'python-error');
    expect(exception).toMatchObject({ missingModule: 'apple', missingPackage: null });
    expect(world.index.requests).toHaveLength(asked);
  });

  test('only names its package otherwise', async () => {
    const pungi = world.start(own());
    const { exception } = verdictOf(await pungi.run({ code: 'import cv2' }), 'python-error');
    expect(exception).toMatchObject({ missingModule: 'cv2', missingPackage: 'opencv-python' });
    expect(exception.hint).toContain('environments.install("default", ["opencv-python"])');
  });
});

async function makeHostPython(): Promise<string> {
  const folder = openFolder();
  execFileSync(await publicInterpreter(), ['-I', '-m', 'venv', '--without-pip', folder]);
  const python = join(folder, 'bin', 'python');
  const ask = ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'];
  const site = execFileSync(python, ask, { encoding: 'utf8' }).trim();
  const about = join(site, 'ofhost-1.0.dist-info');
  mkdirSync(about);
  writeFileSync(join(about, 'METADATA'), 'Metadata-Version: 2.1\nName: ofhost\nVersion: 1.0\n');
  writeFileSync(join(site, 'ofhost.py'), '');
  writeFileSync(join(site, 'ofhost.pth'), 'import os; os.environ["OF_HOST"] = "1"\n');
  return python;
}
