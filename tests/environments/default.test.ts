import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { listeningLogger, printed, startPungi, temporaryFolder, verdictOf } from '../engine/pungi.js';
import { until } from '../support/until.js';
import { openWorld } from './world.js';

const world = await openWorld();
const VERSION = 'import apple; print(apple.__version__)';
/** A folder for environments of the test's own. */
const own = (settings: Record<string, string> = {}) => ({ VENVS_BASE_PATH: temporaryFolder(), ...settings });

describe('the default environment', () => {
  test('is the interpreter itself until something is installed, and is listed', async () => {
    const settings = own();
    const pungi = world.start(settings);
    const [only, ...others] = await pungi.environments.list();
    expect(others).toEqual([]);
    expect(only).toMatchObject({ venvName: 'default', isDefault: true, state: 'ready', path: null });
    expect(await printed(pungi, { code: 'print(1)' })).toBe('1\n');
    expect(existsSync(join(settings.VENVS_BASE_PATH, '.locks'))).toBe(false);
  });

  test('holds what is installed without naming one, beside what the interpreter has', async () => {
    const parent = temporaryFolder();
    chmodSync(parent, 0o755);
    const { path } = await findInterpreter();
    execFileSync(path, ['-I', '-m', 'venv', '--without-pip', parent]);
    const site = execFileSync(join(parent, 'bin', 'python'), [
      '-c',
      'import sysconfig; print(sysconfig.get_path("purelib"))',
    ]);
    execFileSync('sh', ['-c', `echo 'HERE = "of the parent"' > "$0/ofparent.py"`, site.toString().trim()]);
    const pungi = world.start(own({ PUNGI_PYTHON: join(parent, 'bin', 'python') }));
    expect(await printed(pungi, { code: 'import ofparent; print(ofparent.HERE)' })).toBe('of the parent\n');
    await pungi.environments.install(undefined, ['apple<2']);
    expect(await printed(pungi, { code: `import ofparent; print(ofparent.HERE)\n${VERSION}` })).toBe(
      'of the parent\n1.1\n',
    );
    expect(await pungi.environments.show()).toMatchObject({
      isDefault: true,
      requested: ['apple<2'],
      packageCount: 1,
    });
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
      expect(verdict.exception.missingPackage).toBe('no-such-thing');
      expect(await printed(pungi, { code: 'print(1)' })).toBe('1\n');
      const { status, notes } = await pungi.health();
      expect(status).toBe('healthy');
      expect(notes).toEqual([expect.stringContaining('PREINSTALLED_PACKAGES could not be installed')]);
      expect(logger.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
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
    const verdict = verdictOf(await pungi.run({ code: 'import no_such_module' }), 'python-error');
    expect(verdict.exception.hint).toContain('no-such-module could not be');
  });

  test('only names its package otherwise', async () => {
    const pungi = world.start(own());
    const { exception } = verdictOf(await pungi.run({ code: 'import cv2' }), 'python-error');
    expect(exception).toMatchObject({ missingModule: 'cv2', missingPackage: 'opencv-python' });
    expect(exception.hint).toContain('pungi env install default opencv-python');
  });
});
