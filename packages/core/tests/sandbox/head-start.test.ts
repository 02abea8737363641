import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { descendantsOf, isAlive, type KnownProcess } from '../../../../tests/support/processes.js';
import { until } from '../../../../tests/support/until.js';
import { Pungi } from '../../src/pungi.js';
import { adopt, startAhead } from '../../src/sandbox/head-start.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { PYTHON_HALF } from '../../src/sandbox/spawn.js';

const { path: real } = await findInterpreter();

let folder: string;
/** Started by no other test. */
let python: string;
const running: Pungi[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-ahead-'));
  python = join(folder, 'python3');
  symlinkSync(real, python);
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((pungi) => pungi.close()));
  rmSync(folder, { recursive: true, force: true });
});

describe.runIf(process.platform === 'linux')('a fork server that was started ahead', () => {
  test('gets the settings, and no other one is started', async () => {
    adopt(startAhead([], { PUNGI_PYTHON: python }));
    const ahead = forkServers();
    expect(ahead).toHaveLength(1);
    await start(python);
    expect(forkServers()).toEqual(ahead);
  });

  test('says what its interpreter is, so that nobody has to ask', async () => {
    const { forkServer, asked } = startAhead([], { PUNGI_PYTHON: python });
    const { path, version } = await findInterpreter(python);
    expect(await forkServer!.introduction).toMatch(`${path}\n${version}\n`);
    expect(await asked!.answer).toMatchObject({ path, version });
    forkServer!.child.stdin!.end();
  });

  test('ends where the settings name another interpreter', async () => {
    adopt(startAhead([], { PUNGI_PYTHON: python }));
    const [ahead] = forkServers();
    await start(real);
    await until(() => !isAlive(ahead!), 'it has ended');
  });

  test('is replaced if it ends before its settings', async () => {
    adopt(startAhead([], { PUNGI_PYTHON: python }));
    const [ahead] = forkServers();
    process.kill(ahead!.pid, 'SIGKILL');
    await until(() => !existsSync(`/proc/${ahead!.pid}`), 'Node knows that it has ended');
    await start(python);
    expect(forkServers()).toHaveLength(1);
  });

  test.each<[string, string[], NodeJS.ProcessEnv]>([
    ['a flag names the interpreter', ['--python', 'python3.99'], {}],
    ['a flag names the tier', ['--tier=spawn'], {}],
    ['a variable names the tier', [], { PUNGI_TIER: 'spawn' }],
    ['there is a configuration file', [], { PUNGI_CONFIG: 'other.yaml' }],
  ])('is not there if %s', (_, args, env) => {
    startAhead(args, { PUNGI_PYTHON: python, ...env });
    expect(forkServers()).toEqual([]);
  });

  test('is not there for a program that may be something else', () => {
    python = join(folder, 'ruby');
    symlinkSync(real, python);
    startAhead([], { PUNGI_PYTHON: python });
    expect(forkServers()).toEqual([]);
  });

  test('is not there for a script in front of an interpreter', () => {
    rmSync(python);
    shim();
    startAhead([], { PUNGI_PYTHON: python });
    expect(forkServers()).toEqual([]);
  });
});

test('a fork server without settings ends and says nothing', () => {
  const { status, stderr } = spawnSync(real, ['-I', '-S', PYTHON_HALF, 'fork-server'], {
    input: '',
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe.runIf(process.platform === 'linux')('an interpreter that was asked ahead', () => {
  const asked = () => readFileSync(join(folder, 'asked'), 'utf8');
  const env = { ...process.env };

  beforeEach(() => {
    rmSync(python);
    shim();
    env['PUNGI_PYTHON'] = python;
  });

  test('is not asked again, until the next time', async () => {
    adopt(startAhead([], env));
    expect(await findInterpreter(python, { env })).toMatchObject({ path: real });
    expect(asked()).toBe('x');
    await findInterpreter(python, { env });
    expect(asked()).toBe('xx');
  });

  test('is asked again with other variables', async () => {
    adopt(startAhead([], env));
    await findInterpreter(python, { env: { ...env } });
    await findInterpreter(python, { env });
    expect(asked()).toBe('xx');
  });

  test('is not waited for once nobody wants it any more', async () => {
    writeFileSync(python, '#!/bin/sh\nexec sleep 1000\n');
    adopt(startAhead([], env));
    const stop = new AbortController();
    const search = findInterpreter(python, { env, signal: stop.signal });
    stop.abort(new Error('not wanted any more'));
    await expect(search).rejects.toThrow('not wanted any more');
  });
});

/** A program in front of the interpreter, which counts its starts. */
function shim(): void {
  writeFileSync(python, `#!/bin/sh\nprintf x >> '${folder}/asked'\nexec '${real}' "$@"\n`);
  chmodSync(python, 0o755);
}

/** Resolves when a worker is ready. */
async function start(path: string): Promise<void> {
  const pungi = Pungi.start({ python: path, poolSize: 1, audit: false });
  running.push(pungi);
  await pungi.ready();
}

/** Those of the test's own interpreter. */
const forkServers = (): KnownProcess[] =>
  descendantsOf(process.pid).filter(({ pid, parent }) => parent === process.pid && isForkServer(pid));

function isForkServer(pid: number): boolean {
  try {
    const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program === python && args.includes('fork-server');
  } catch {
    return false; // it has ended
  }
}
