import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { openWorld } from './environments.js';

const world = await openWorld();
const CLEAR_LINE = '\r\x1b[2K';

/** What is on the screen at the end: of a line that was drawn over, the last. */
const screen = (shown: string) =>
  shown
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => stripVTControlCharacters(line.slice(line.lastIndexOf(CLEAR_LINE) + 1)).replace(/^\r/, ''))
    .join('\n');

test('steps are one live line with the time, and only the result stays', async () => {
  world.index.hang(true);
  const { ended, shows } = world.start(['env', 'create', 'lively', 'banana'], { terminal: true });
  try {
    await shows('stdout', /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]\S* \S*╌{16} \S*Creating the environment "lively"\. +\S*\d+\.\d s/);
  } finally {
    world.index.hang(false);
  }
  const { status, stdout } = await ended;
  expect(status).toBe(0);
  const frames = stdout.split(CLEAR_LINE).slice(1);
  for (const frame of frames.slice(0, -1)) {
    expect(frame).not.toContain('\n');
    expect(stripVTControlCharacters(frame).length).toBeLessThan(80);
  }
  expect(stdout).toContain('\x1b[32m✓\x1b[39m banana');
  // Versions are chosen, then files are in place: the bar grows.
  expect(stdout).toMatch(/━━╌{14}[\s\S]*━{12}╌{4}/);
  expect(screen(stdout)).toMatch(
    /^✓ banana 1\.0\n {2}\+ apple 2\.0\nInstalled 2 packages [^\n]*\nCreated the environment "lively" [^\n]*\n$/,
  );
});

test('Ctrl-C in the middle of it leaves one sentence on the screen, and nothing on disk', async () => {
  world.index.hang(true);
  try {
    const { child, ended, shows } = world.start(['env', 'create', 'never', 'cherry'], { terminal: true });
    await shows('stdout', 'Creating the environment "never".');
    await until(() => world.index.requests.some((path) => path.includes('/cherry/')), 'the index is asked');
    child.stdin.write('\x03');
    const { status, stdout } = await ended;
    expect(status).toBe(130);
    // The terminal itself shows what was typed, where the line was at the moment.
    expect(screen(stdout).replace('^C', '').trim()).toBe('pungi: Cancelled: nothing has changed.');
  } finally {
    world.index.hang(false);
  }
  expect(await exists('never')).toBe(false);
  expect(world.leftovers()).toEqual([]);
});

test('NO_COLOR and a dumb terminal are respected', async () => {
  const plain = { terminal: true, env: { NO_COLOR: '1', TERM: 'dumb' } };
  const { status, stdout } = await world.start(['env', 'create', 'plain', 'apple'], plain).ended;
  expect(status).toBe(0);
  expect(stdout).not.toContain('\x1b');
  expect(stdout).toContain('✓ apple');
});

test('a table is cut to the width of the terminal', async () => {
  await world.json(['create', 'wide', '-d', '長い'.repeat(80)]);
  const { stdout } = await world.start(['env', 'list'], { terminal: true }).ended;
  const line = screen(stdout)
    .split('\n')
    .find((one) => one.includes('wide'));
  expect(line).toMatch(/長い*…$/);
  expect([...line!].reduce((sum, one) => sum + (one > '\u2E80' ? 2 : 1), 0)).toBeLessThanOrEqual(80);
});

async function answering(args: string[], ...answers: [question: RegExp, answer: string][]) {
  const { child, ended, shows } = world.start(['env', ...args], { terminal: true });
  for (const [question, answer] of answers) {
    await shows('stdout', question);
    child.stdin.write(answer);
  }
  const { status, stdout } = await ended;
  return { status, shown: screen(stdout) };
}
const exists = async (name: string) => (await world.env(['show', name])).status === 0;

test('delete asks, and yes deletes', async () => {
  await world.json(['create', 'goes', 'apple']);
  const { status, shown } = await answering(
    ['delete', 'goes'],
    [/\(1 package, .* MB\)\? .*\[y\/N\] $/, 'y\n'],
  );
  expect(status).toBe(0);
  expect(shown).toContain('Deleted the environment "goes".\n');
  expect(await exists('goes')).toBe(false);
});

test.each([
  ['an empty line', '\n'],
  ['no', 'n\n'],
  ['anything else', 'yeah, well\n'],
  ['the end of input', '\x04'],
  ['Ctrl-C', '\x03'],
])('delete does nothing after %s', async (_, answer) => {
  if (!(await exists('stays'))) await world.json(['create', 'stays']);
  const { status, shown } = await answering(['delete', 'stays'], [/\[y\/N\] $/, answer]);
  expect(status).toBe(130);
  expect(shown).toMatch(/\npungi: [^\n]+\n$/);
  expect(await exists('stays')).toBe(true);
});

test('the default environment is deleted after a second question that wants its name', async () => {
  await world.json(['install', 'default', 'apple']);
  const first = [/\[y\/N\] $/, 'yes\n'] as [RegExp, string];
  const wrong = await answering(['delete', 'default'], first, [/Type its name to delete it: $/, 'y\n']);
  expect(wrong.status).toBe(130);
  expect(await world.json(['show', 'default'])).toMatchObject({ requested: ['apple'] });
  const right = await answering(['delete', 'default'], first, [/Type its name to delete it: $/, 'default\n']);
  expect(right.status).toBe(0);
  expect(await world.json(['show', 'default'])).toMatchObject({ path: null });
});

test('a script’s packages are told on a live line, which is gone when the script writes', async () => {
  const script = '# /// script\n# dependencies = ["shout"]\n# ///\nimport shout\nprint("second")\n';
  const { status, stdout } = await world.start(['run', '-c', script], { terminal: true }).ended;
  expect(status).toBe(0);
  expect(stdout).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  expect(screen(stdout)).toBe('shout is imported\nsecond\n');
});
