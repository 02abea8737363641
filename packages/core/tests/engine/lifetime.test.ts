import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { ownFolders as foldersOfTests } from '../../../../tests/support/own-folders.js';
import { descendantsOf, isAlive } from '../../../../tests/support/processes.js';
import { until } from '../../../../tests/support/until.js';
import { publicInterpreter, startPungi, verdictOf } from './pungi.js';

const SERVER = fileURLToPath(new URL('./fixtures/server.mjs', import.meta.url));
const python = await publicInterpreter();
const ALL_TIERS = ['namespace', 'landlock', 'process', 'spawn'] as const;
/** Where people wait for the tests, the tiers that they most likely have. */
const TIERS = RUNS_ALL ? ALL_TIERS : ALL_TIERS.slice(0, 2);

const settingsFor = (tier: (typeof ALL_TIERS)[number]): Record<string, string> => ({
  PUNGI_TIER: tier,
  ...(tier === 'process' || tier === 'spawn' ? { ALLOW_UNSANDBOXED: 'true' } : {}),
  ...(tier === 'namespace' || python === '' ? {} : { PUNGI_PYTHON: python }),
});

/** A run that would go on for ever, with a process that left its session and one that nobody waits for. */
const STAYING = `
import subprocess, os, threading, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "100000"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        threading.Event().wait()
    os._exit(0)
os.wait()
print("staying")
threading.Event().wait()
`;

describe.each(TIERS)('in the %s tier', (tier) => {
  const children = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
  });

  async function startServer() {
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...foldersOfTests(),
      SETTINGS: JSON.stringify({ AUDIT: 'false', ...settingsFor(tier) }),
      CODE: STAYING,
    };
    const child = spawn(process.execPath, [SERVER], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    children.add(child);
    let said = '';
    child.stdout.on('data', (chunk) => (said += chunk));
    const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()));
    await until(() => said.includes('staying'), 'the run of the child is going');
    return { child, exited, said: () => said, processes: descendantsOf(child.pid!) };
  }

  test('close() leaves no process and no folder', async () => {
    const before = new Set(descendantsOf(process.pid).map(({ pid }) => pid));
    // Test files share a process: those of others may still be there.
    const folders = new Set(ownFolders(process.pid));
    const own = startPungi(settingsFor(tier));
    let isStaying = false;
    const run = own.run({ code: STAYING }, { onLine: () => (isStaying = true) });
    await until(() => isStaying, 'the run is going');
    const started = descendantsOf(process.pid).filter(({ pid }) => !before.has(pid));
    expect(started.length).toBeGreaterThanOrEqual(tier === 'spawn' ? 4 : 5);
    await own.close();
    verdictOf(await run, 'cancelled');
    await until(() => !started.some(isAlive), 'every process is gone');
    const left = () => ownFolders(process.pid).filter((folder) => existsSync(folder) && !folders.has(folder));
    await until(() => left().length === 0, 'every folder is gone');
  });

  test('after SIGKILL to the server nothing stays alive', async () => {
    const { child, exited, processes } = await startServer();
    expect(processes.length).toBeGreaterThanOrEqual(tier === 'spawn' ? 4 : 5);
    child.kill('SIGKILL');
    await exited;
    await until(() => !processes.some(isAlive), 'every process of the dead server is gone');
  });

  test('after a crash of the server nothing stays alive', async () => {
    const { child, exited, processes } = await startServer();
    child.stdin.write('crash\n');
    await exited;
    expect(child.exitCode).not.toBe(0);
    await until(() => !processes.some(isAlive), 'every process of the crashed server is gone');
  });

  test('after SIGKILL the folder that is left is removed by the next start', async () => {
    const { child, exited, processes } = await startServer();
    child.kill('SIGKILL');
    await exited;
    await until(() => !processes.some(isAlive), 'every process of the dead server is gone');
    const next = startPungi(settingsFor(tier));
    try {
      await next.ready();
      expect(ownFolders(child.pid!).filter(existsSync)).toEqual([]);
    } finally {
      await next.close();
    }
  });

  test('a process that closes Pungi can end by itself', async () => {
    const { child, exited, processes } = await startServer();
    child.stdin.write('close\n');
    await exited;
    expect({ status: child.exitCode, signal: child.signalCode }).toEqual({ status: 0, signal: null });
    await until(() => !processes.some(isAlive), 'every process is gone');
  });
});

/** The private folders that a server with this process id made. */
const ownFolders = (pid: number): string[] =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith(`pungi-${pid}-`))
    .map((name) => `${tmpdir()}/${name}`);

test('closing twice, and closing before anything is ready, is fine', async () => {
  const own = startPungi();
  await Promise.all([own.close(), own.close()]);
  await own.close();
  expect((await own.run({ code: 'print(1)' })).verdict.kind).toBe('cancelled');
});
