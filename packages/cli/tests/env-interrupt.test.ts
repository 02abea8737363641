import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { openWorld } from './environments.js';
import { descendants, isAlive } from './pungi.js';

const world = await openWorld();
const onLinux = process.platform === 'linux';

/** Starts the command and interrupts it while the index keeps its tool waiting. */
async function interrupted(args: string[], asksFor: string, signal: NodeJS.Signals) {
  world.index.hang(true);
  try {
    const before = world.index.requests.length;
    const { child, ended } = world.start(args);
    child.stdin.end();
    const asked = () => world.index.requests.slice(before).some((path) => path.includes(`/${asksFor}/`));
    await until(asked, 'the index is asked');
    const below = descendants(child.pid!);
    expect(below.length).toBeGreaterThan(0);
    child.kill(signal);
    const end = await ended;
    await until(() => !below.some(isAlive), 'no process is left');
    return end;
  } finally {
    world.index.hang(false);
  }
}

const show = async (name: string) => (await world.json(['show', name])) as Record<string, unknown>;

test.runIf(onLinux).each(['SIGINT', 'SIGTERM'] as const)(
  '%s during an install leaves the environment as it was, and nothing beside it',
  async (signal) => {
    const name = `kept-${signal}`;
    await world.json(['create', name, 'apple==1.0']);
    const before = await show(name);
    const { status, stdout, stderr } = await interrupted(
      ['env', 'install', name, 'durian'],
      'durian',
      signal,
    );
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
    expect(stderr).toMatch(/(^|\n)pungi: Cancelled: nothing has changed\.\n$/);
    expect(await show(name)).toEqual(before);
    expect(world.leftovers()).toEqual([]);
    expect(await world.env(['install', name, 'cherry'])).toMatchObject({ status: 0 });
  },
);

test.runIf(onLinux)('Ctrl-C during a creation leaves the name free', async () => {
  const { status } = await interrupted(['env', 'create', 'never', 'scripted'], 'scripted', 'SIGINT');
  expect(status).toBe(130);
  expect((await world.env(['show', 'never'])).status).toBe(66);
  expect(world.leftovers()).toEqual([]);
  expect((await world.env(['create', 'never', 'scripted'])).status).toBe(0);
});

test.runIf(onLinux)('with --json the cancellation is the answer', async () => {
  const { status, stdout } = await interrupted(
    ['env', 'create', 'never2', 'shout', '--json'],
    'shout',
    'SIGINT',
  );
  expect(status).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'CANCELLED' } });
});

test.runIf(onLinux)('Ctrl-C while a script’s packages are installed cancels the run', async () => {
  const script = '# /// script\n# dependencies = ["pthed"]\n# ///\nprint("ran")\n';
  const { status, stdout, stderr } = await interrupted(['run', '-c', script], 'pthed', 'SIGINT');
  expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
  expect(stderr).toMatch(/\npungi: [^\n]*cancelled[^\n]*\n$/i);
  expect(world.leftovers()).toEqual([]);
});
