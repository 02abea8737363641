import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { py } from '../../../tests/support/python.js';
import { openWorld } from './environments.js';
import { serveTools } from './serve-tools.js';

const PROGRAM = py`
  import argparse

  from . import words

  def main():
      parser = argparse.ArgumentParser(description="Greets somebody.")
      parser.add_argument("name", help="whom")
      parser.add_argument("--times", type=int, default=1)
      given = parser.parse_args()
      print(" ".join([words.HELLO, given.name]) * given.times)
`;

const world = await openWorld([
  {
    name: 'Greeter',
    version: '1.0',
    // The program has the name of its package, and its module imports relatively.
    files: { 'greet/__init__.py': '', 'greet/cli.py': PROGRAM, 'greet/words.py': 'HELLO = "hello"\n' },
    scripts: { greet: 'greet.cli:main', broken: 'greet.cli:nothing' },
  },
]);
const tools = join(temporaryFolder(), 'tools');
const wrap = (...args: string[]) => world.run(['wrap', ...args], { env: { TOOLS_DIR: tools } });

beforeAll(async () => {
  await world.json(['create', 'programs', 'greeter']);
});

test.each(['greet', 'greeter:greet'])('the program %s of an environment becomes a tool', async (operand) => {
  const { status, stdout } = await wrap(operand, '-e', 'programs');
  expect(stdout).toContain('✓ greet  Greets somebody.');
  expect(status).toBe(0);
});

test('its tool runs the program in its environment', async () => {
  const server = await serveTools({ ...world.settings, TOOLS_DIR: tools });
  try {
    const greet = (await server.list()).find(({ name }) => name === 'greet');
    expect(Object.keys(greet?.inputSchema.properties ?? {})).toEqual(
      expect.arrayContaining(['name', 'times']),
    );
    const answer = await server.call('greet', { name: 'Ada', times: 2 });
    expect(JSON.stringify(answer.content)).toContain('hello Adahello Ada');
  } finally {
    await server.close();
  }
});

test('with -o, its folder names the package to install, and no environment', async () => {
  const folder = join(temporaryFolder(), 'greet-mcp');
  expect((await wrap('greet', '-e', 'programs', '-o', folder)).stdout).toContain('✓ greet  Greets somebody.');
  expect(readFileSync(join(folder, 'requirements.txt'), 'utf8')).toContain('\nGreeter==1.0\n');
  expect(JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8'))).toMatchObject({ environment: null });
});

test('with -o, a program and a script go into one folder', async () => {
  const folder = temporaryFolder();
  const script = join(folder, 'report.py');
  writeFileSync(script, 'def total(numbers: list[int]) -> int:\n    return sum(numbers)\n');
  const { stdout } = await wrap('greet', script, '-e', 'programs', '-o', join(folder, 'out'));
  expect(stdout).toContain('2 tools of greet_program.py, report.py');
  expect(readFileSync(join(folder, 'out', 'requirements.txt'), 'utf8')).toContain('\nGreeter==1.0\n');
});

test.each([
  ['a program that is not there', 2, ['great', '-e', 'programs'], 'Do you mean "greet"?'],
  ['a program of another package', 2, ['apple:greet', '-e', 'programs'], 'no program of that name'],
  ['an environment that is not there', 66, ['greet', '-e', 'nowhere'], 'There is no environment "nowhere"'],
])('%s is refused', async (_, expected, args, sentence) => {
  const { status, stderr } = await wrap(...args);
  expect(stderr).toContain(sentence);
  expect(status).toBe(expected);
});

test('a program that cannot be loaded is marked, with the reason', async () => {
  const { stdout } = await wrap('broken', '-e', 'programs');
  expect(stdout).toContain('✗ broken');
  expect(stdout).toContain("cannot import name 'nothing'");
});
