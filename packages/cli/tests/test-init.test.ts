import { describe, test } from 'vitest';
import { parse } from 'yaml';
import { SHOP, SPEC, testPlaces } from './test-place.js';

const place = testPlaces();
const SECONDS = 1000;

describe.concurrent('pungi test init', { timeout: 120 * SECONDS }, () => {
  test('writes a specification that passes; what might change something is left to be looked at', async ({
    expect,
  }) => {
    const here = place();
    const { status, stdout } = await here.run(['init', '-o', 'shop.yaml', '--', 'node', SHOP]);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout:
        '✓ shop.yaml: 4 tests of shop\n' +
        '○ 3 tests to review: skipped, with the reason\n' +
        'Run it with: pungi test shop.yaml\n',
    });
    const { tools, resources, prompts } = parse(here.read('shop.yaml'));
    expect(tools[0].tests).toEqual([
      { name: 'answers', input: { a: 1, b: 1 }, expected: { fields: [{ path: '$.sum', type: 'number' }] } },
      { name: 'refuses an input without anything', input: {}, expected: { error: true } },
    ]);
    expect(tools[1].tests[0]).toMatchObject({
      input: { cents: 1 },
      skip: expect.stringContaining('never tried'),
    });
    expect([...resources, ...prompts].map((one) => one.name)).toEqual(['opening hours', 'item', 'greet']);
    const ran = await here.run(['shop.yaml']);
    expect(ran.status).toBe(0);
    expect(ran.stdout).toMatch(/^✓ 7 passed, 3 skipped/m);
  });

  test('a file is not replaced unasked, and no server is started for it', async ({ expect }) => {
    const here = place();
    here.write('shop.yaml', 'mine\n');
    const { status, stderr } = await here.run(['init', '-o', 'shop.yaml', '--', 'no-such-program']);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'pungi: shop.yaml exists already; --force replaces it.\n',
    });
    expect(here.read('shop.yaml')).toBe('mine\n');
  });

  test('--call all calls every tool, and "-" is standard output', async ({ expect }) => {
    const { status, stdout } = await place().run(['init', '-o', '-', '--call', 'all', '--', 'node', SHOP]);
    expect(status).toBe(0);
    const { tools } = parse(stdout);
    expect(tools[1]).toMatchObject({
      name: 'price',
      tests: [
        { input: { cents: 1 }, expected: { fields: [{ path: '$.content[0].type', value: 'text' }] } },
        {},
      ],
    });
  });

  test('a server that is not there is told, with what it wrote, and one that is not named is asked for', async ({
    expect,
  }) => {
    const here = place();
    const gone = await here.run(['init', '--', 'node', '-e', 'console.error("no luck"); process.exit(4)']);
    expect(gone).toEqual({
      status: 1,
      stdout: '',
      stderr: 'pungi: The server ended with status 4.\nstderr:\nno luck\n',
    });
    const unnamed = await here.run(['init']);
    expect(unnamed.status).toBe(2);
    expect(unnamed.stderr).toMatch(/^pungi: Name a server: /);
    const twice = await here.run(['init', '--url', 'http://127.0.0.1:1/', '--', 'node']);
    expect(twice.stderr).toBe('pungi: Name one server: a command, --url or --spec, not several.\n');
  });
});

describe.concurrent('pungi test lint', { timeout: 60 * SECONDS }, () => {
  test('tells what a model will trip over, and fails by errors, or by warnings with --strict', async ({
    expect,
  }) => {
    const here = place();
    here.write('shop.yaml', SPEC);
    const plain = await here.run(['lint', '--spec', 'shop.yaml']);
    expect(plain.status).toBe(0);
    expect(plain.stdout).toContain(
      'warning tool price: The description of the tool is too short to be useful: "x". [description-length]\n',
    );
    expect(plain.stdout).toMatch(/✓ shop: 3 tools, 2 resources, 1 prompt; 0 errors, 3 warnings, 2 advice\n$/);
    expect((await here.run(['lint', '--strict', '--', 'node', SHOP])).status).toBe(1);
    const rules = 'description-length,parameter-description,annotations';
    const quiet = await here.run(['lint', '--strict', '--ignore', rules, '--json', '--', 'node', SHOP]);
    expect(quiet.status).toBe(0);
    expect(JSON.parse(quiet.stdout)).toMatchObject({ server: { name: 'shop' }, remarks: [] });
  });
});
