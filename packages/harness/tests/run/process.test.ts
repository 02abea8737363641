import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { ServerProcess } from '../../../core/src/runtime/server-process.js';
import { fixture, messagesOf, over, run, WORK } from './suites.js';

const isThere = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('what a server started ends with the run, also what left its group', async () => {
  const { named } = await run({
    server: over('forks-children.mjs'),
    tools: [{ name: 'work', tests: [{ name: 'works', capture: { pids: '$[0].text' } }] }],
  });
  expect(messagesOf(named('works'))).toEqual([]);
  const { content } = named('works').response as { content: [{ text: string }] };
  const pids = JSON.parse(content[0].text) as number[];
  expect(pids).toHaveLength(2);
  await until(() => !pids.some(isThere), 'both processes are gone');
});

test('a server that does not end is killed, and that is told', async () => {
  const { report, named } = await run({
    server: over('never-ends.mjs', { shutdown_timeout_seconds: 1 }),
    ...WORK,
  });
  expect(named('works').status).toBe('passed');
  const last = report.results.at(-1)!;
  expect(last).toMatchObject({
    id: 'server/process/ends when asked',
    status: 'failed',
    serverStderr: 'no\n',
  });
  expect(messagesOf(last)).toEqual([
    'The server did not end within 1 seconds of the end of its input and SIGTERM, and was killed.',
  ]);
});

test('a server has a small clean environment and what the specification adds', async () => {
  const server = await ServerProcess.start({
    command: process.execPath,
    args: ['-e', 'console.error(JSON.stringify(process.env))'],
    env: { GIVEN: 'x' },
    folder: '/',
  });
  await server.exited;
  const { PUNGI_SERVER_UNDER_TEST: mark, ...env } = JSON.parse(server.stderr.since(0)) as Record<
    string,
    string
  >;
  expect(mark).toMatch(/^[\da-f-]{36}$/);
  expect(env).toEqual({ GIVEN: 'x' });
});

describe('a server does not outlive who tests it', () => {
  const harness = `
    import { ServerProcess } from '${new URL('../../../core/src/runtime/server-process.ts', import.meta.url).href}';
    const server = await ServerProcess.start({ command: process.execPath, args: ['${fixture('never-ends.mjs')}'],
      env: {}, folder: '/' });
    console.log(server.pid);
    process.stdin.on('data', () => process.exit());
  `;
  const start = async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', harness], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return { child, pid: Number(line) };
  };

  test('that exits', async () => {
    const { child, pid } = await start();
    child.stdin.write('\n');
    await until(() => !isThere(pid), 'the server is gone');
  });

  test('that is killed', async () => {
    const { child, pid } = await start();
    child.kill('SIGKILL');
    await until(() => !isThere(pid), 'the server is gone');
  });
});
