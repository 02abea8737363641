import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { natsServer } from '../../../tests/support/nats-server.js';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { descendants, isAlive, type Running, start } from '../../cli/tests/pungi.js';

/** Starts the demonstration with a folder of its own for temporary files. */
async function demo(args: string[] = []): Promise<{ running: Running; temporary: string }> {
  const temporary = join(lastingFolder(), 'tmp');
  mkdirSync(temporary);
  const env = { PATH: `${dirname(await natsServer())}:${process.env['PATH']}`, TMPDIR: temporary };
  return { running: start(['cluster', 'demo', ...args], { env }), temporary };
}

/** Checks that nothing is left of processes that were seen, nor of its files. */
async function leavesNothing(seen: string[], temporary: string): Promise<void> {
  expect(seen.length).toBeGreaterThan(5);
  await until(() => !seen.some(isAlive), 'no process is left');
  expect(readdirSync(temporary).filter((name) => name.startsWith('pungi-demo-'))).toEqual([]);
}

test('pungi cluster demo --once shares runs, loses some with a worker, and leaves nothing', async () => {
  const { running, temporary } = await demo(['--once']);
  await running.shows('stdout', '20 runs, shared by two workers');
  const seen = descendants(running.child.pid!);
  const { status, stdout, stderr } = await running.ended;
  expect(stderr).not.toContain('Warning');
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/\nleft +ready .*\nright +ready /);
  const [, left, right] = /20 ok: (\d+) on left, (\d+) on right/.exec(stdout)!.map(Number);
  expect(left! + right!).toBe(20);
  expect(Math.min(left!, right!)).toBeGreaterThan(0);
  const [lost = '', again = ''] = stdout.split('is killed while they are under way\n').slice(1);
  expect(lost.match(/^ {2}lost The run was lost on the worker right/gm)).toHaveLength(2);
  expect(lost.match(/^ {2}ok /gm)).toHaveLength(2);
  expect(lost).toContain('! The worker right has been silent for');
  expect(again.match(/^ {2}ok /gm)).toHaveLength(4);
  expect(again.match(/It was run again: The run was lost on the worker right/g)).toHaveLength(2);
  await leavesNothing(seen, temporary);
});

test('Ctrl-C ends the demonstration at its first table, and leaves nothing', async () => {
  const { running, temporary } = await demo();
  await running.shows('stdout', 'Cluster demo: 2 workers');
  const seen = descendants(running.child.pid!);
  running.child.kill('SIGINT');
  expect((await running.ended).status).toBe(130);
  await leavesNothing(seen, temporary);
});

test('the demonstration serves until Ctrl-C, and leaves nothing', async () => {
  const { running, temporary } = await demo();
  const shown = await running.shows('stdout', /serves MCP at (http:\S+)\/mcp/);
  const [, origin] = /serves MCP at (http:\S+)\/mcp/.exec(shown)!;
  const health = await (await fetch(`${origin}/health`)).json();
  expect(health).toMatchObject({
    cluster: { name: 'demo', workers: [{ state: 'ready' }, { state: 'ready' }] },
  });
  const seen = descendants(running.child.pid!);
  running.child.kill('SIGINT');
  expect((await running.ended).status).toBe(0);
  await leavesNothing(seen, temporary);
});
