import { describe, test } from 'vitest';
import { parse } from 'yaml';
import { SHOP, SPEC, testPlaces } from './test-place.js';

const place = testPlaces();
const SECONDS = 1000;

describe.concurrent('pungi test fuzz', { timeout: 240 * SECONDS }, () => {
  test('finds the input that ends the server, makes it small, and writes it as a test that fails', async ({
    expect,
  }) => {
    const here = place();
    const args = [
      'fuzz',
      '--tool',
      'add,price',
      '-n',
      '40',
      '--seed',
      '3',
      '-o',
      'found.yaml',
      '--',
      'node',
      SHOP,
    ];
    const { status, stdout } = await here.run(args);
    expect(status).toBe(1);
    expect(stdout).toContain(
      '✗ price\n│ The server ended with status 3.\n│ input {"cents":-1}\n│ stderr\n│   shop: a negative price\n',
    );
    expect(stdout).toMatch(/^✓ add: 40 calls, \d+ refused$/m);
    expect(stdout).toContain('seed 3\n');
    expect(parse(here.read('found.yaml')).tools).toMatchObject([
      { name: 'price', tests: [{ input: { cents: -1 }, expected: { error: 'any' } }] },
    ]);
    const again = await here.run(['found.yaml']);
    expect(again.status).toBe(1);
    expect(again.stdout).toContain('The server ended with status 3.');
  });

  test('finds the input that is never answered', async ({ expect }) => {
    const args = [
      'fuzz',
      '--tool',
      'stall',
      '-n',
      '30',
      '--seed',
      '3',
      '--timeout',
      '1500',
      '--json',
      '--',
      'node',
      SHOP,
    ];
    const { status, stdout } = await place().run(args);
    expect(status).toBe(1);
    const { seed, tools } = JSON.parse(stdout);
    expect(seed).toBe(3);
    expect(tools[0].finds).toMatchObject([{ kind: 'timeout', input: { forever: true }, isAllowed: true }]);
  });

  test('a server that bears everything passes', async ({ expect }) => {
    const { status, stdout } = await place().run(['fuzz', '--tool', 'add', '-n', '20', '--', 'node', SHOP]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^✓ add: 20 calls(, \d+ refused)?\nseed \d+\n$/);
  });
});

describe.concurrent('pungi test bench', { timeout: 60 * SECONDS }, () => {
  test('measures tools that only read, and names those that it did not call', async ({ expect }) => {
    const { status, stdout } = await place().run(['bench', '-d', '100', '-c', '2', '--', 'node', SHOP]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^TOOL +CALLS +PER SECOND +MEDIAN +95 % +99 % +MAX +ERRORS\nadd +\d+ /);
    expect(stdout).toContain('○ not called (name them with --tool): price, stall\n');
  });

  test('takes inputs of a specification, or one of its own', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', `${SPEC}\ntools: [{ name: price, tests: [{ name: one, input: { cents: 5 } }] }]\n`);
    const tested = await here.run(['bench', '--spec', 'a.yaml', '-d', '50', '--json']);
    expect(JSON.parse(tested.stdout).tools).toMatchObject([{ tool: 'price', errors: 0 }]);
    const own = await here.run([
      'bench',
      '--tool',
      'price',
      '-i',
      '{"cents": "x"}',
      '-d',
      '50',
      '--',
      'node',
      SHOP,
    ]);
    expect(own.stdout).toContain('! A tool answered only with errors: try another --input.\n');
    const wrong = await here.run(['bench', '--tool', 'pric', '--', 'node', SHOP]);
    expect(wrong).toEqual({
      status: 2,
      stdout: '',
      stderr: 'pungi: The server has no tool pric; did you mean price?\n',
    });
    const loose = await here.run(['bench', '-i', '{}', '--', 'node', SHOP]);
    expect(loose.stderr).toBe('pungi: --input needs exactly one --tool.\n');
  });
});
