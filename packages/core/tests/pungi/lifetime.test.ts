import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { descendants, isAlive } from '../../../cli/tests/pungi.js';

const LIBRARY = resolve(import.meta.dirname, '../../../../dist/pungi/src/index.js');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync('/tmp/lifetime-');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = () => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  PUNGI_DATA_DIR: join(folder, 'data'),
  TMPDIR: folder,
  XDG_STATE_HOME: join(folder, 'state'),
  VENVS_BASE_PATH: join(folder, 'environments'),
});

/** Runs a program that uses the library, and waits until it has ended by itself. */
async function program(body: string, env: Record<string, string> = {}) {
  const file = join(folder, `program-${Math.random()}.mjs`);
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs';\nimport { Pungi, PythonEngine } from ${JSON.stringify(LIBRARY)};\n${body}`,
  );
  const child = spawn(process.execPath, [file], { cwd: folder, env: { ...settings(), ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const below = new Set<string>();
  const watching = setInterval(() => {
    for (const process of descendants(child.pid!)) below.add(process);
  }, 20);
  const status = await new Promise((done) => child.once('close', done));
  clearInterval(watching);
  return { status, output, pid: child.pid!, below: [...below] };
}

test.each([
  ['ran code', `console.log((await Pungi.start().run({ code: 'print(6 * 7)' })).stdout.text.trim());`],
  ['did nothing at all', `Pungi.start(); console.log(42);`],
  ['waited until it was ready', `await Pungi.start().ready(); console.log(42);`],
  [
    'created an environment and ran code in it',
    `const pungi = Pungi.start();
     await pungi.environments.create({ venvName: 'own' });
     console.log((await pungi.run({ code: '6 * 7', venvName: 'own' })).value.repr);
     await pungi.environments.delete({ venvName: 'own', confirm: true, wait: true });`,
  ],
  [
    'ran many at once and precompiled',
    `const pungi = Pungi.start();
     const script = await pungi.precompile('40 + 1');
     const all = await Promise.all(Array.from({ length: 30 }, () => pungi.runCompiled(script)));
     console.log(all.length + 12);`,
  ],
  [
    'ran code under a profile with allowed hosts',
    `writeFileSync('hosts.yaml', 'profiles: {web: {network: {allow: [example.org]}}}');
     process.env.PROFILES_FILE = 'hosts.yaml';
     const pungi = Pungi.start();
     console.log((await pungi.run({ code: '6 * 7', profile: 'web' })).value.repr);`,
  ],
  [
    'used the engine for scripts',
    `const engine = await PythonEngine.create();
     const { error } = await engine.executeScript('assert 6 * 7 == 42');
     console.log(error ?? 42);`,
  ],
])('a program that %s and forgets close ends, and leaves no process', async (_, body) => {
  const { status, output, pid, below } = await program(body);
  expect({ status, output }).toEqual({ status: 0, output: '42\n' });
  expect(below.length).toBeGreaterThan(0);
  await expect.poll(() => below.filter(isAlive), { timeout: 20_000 }).toEqual([]);
  expect(readdirSync(folder).filter((name) => name.startsWith(`pungi-${pid}-`))).toEqual([]);
});

test('a run that goes on keeps the program alive', async () => {
  const { output } = await program(
    `Pungi.start().run({ code: 'import time; time.sleep(1); print(42)' }).then(({ stdout }) => process.stdout.write(stdout.text));`,
  );
  expect(output).toBe('42\n');
});

test('what goes out of scope with "await using" is closed, as TypeScript emits it for any Node', async () => {
  // What tsc makes of `await using pungi = Pungi.start()` for a target before ES2026.
  const { output } = await program(
    `const pungi = Pungi.start();
     if (typeof Symbol.asyncDispose !== 'symbol') throw new TypeError('Symbol.asyncDispose is not defined.');
     const { value } = await pungi.run({ code: '6 * 7' });
     await pungi[Symbol.asyncDispose]();
     await pungi.close();
     console.log(value.repr, (await pungi.run({ code: '1' })).verdict.code);`,
  );
  expect(output).toBe('42 CANCELLED\n');
});

test('without a configuration, that of the environment holds', async () => {
  const { output } = await program(`console.log(Pungi.start().config.maxMemoryMb);`, { MAX_MEMORY_MB: '99' });
  expect(output).toBe('99\n');
});

test('what is left out of a configuration has its default, whatever the environment says', async () => {
  const { output } = await program(
    `const { maxMemoryMb, maxCpuMs } = Pungi.start({ maxCpuMs: 7 }).config; console.log(maxMemoryMb, maxCpuMs);`,
    { MAX_MEMORY_MB: '99' },
  );
  expect(output).toBe('512 7\n');
});
