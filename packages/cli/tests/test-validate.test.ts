import { describe, test } from 'vitest';
import { SPEC, testPlaces } from './test-place.js';

const place = testPlaces();

const SCRIPTS = `${SPEC}
validation_scripts:
  - name: in a block
    source: |
      # fine
      total = 1

      total = = 2
  - name: in a line
    source: "x = (1"
  - name: in a file
    file: checks.py
  - { name: escaped, source: "a = 1\\nb = = 1" }
  - name: fine
    source: |
      return {"valid": True}
  - name: with packages
    source: |
      # /// script
      # dependencies = ["no-such-package-anywhere"]
      # ///
      import no_such_package_anywhere
tools:
  - name: add
    tests:
      - name: adds
        input: { a: 1, b: 2 }
        expected: { expression: ["1 +", "a == b"] }
        validation_scripts: [in a block, in a line, in a file, escaped, fine, with packages]
`;

describe.concurrent('pungi test validate', { timeout: 120_000 }, () => {
  test('compiles scripts and expressions, and names the place in the file that holds them', async ({
    expect,
  }) => {
    const here = place();
    here.write('a.yaml', SCRIPTS);
    here.write('checks.py', 'def check(context):\n    return context[\n');
    const { status, stdout, stderr } = await here.run(['validate', 'a.yaml']);
    expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    expect(stdout).toMatch(
      /^a\.yaml:14:15: validation_scripts\[0\]\.source cannot be compiled: invalid syntax$/m,
    );
    expect(stdout).toMatch(
      /^a\.yaml:16:18: validation_scripts\[1\]\.source cannot be compiled: '\(' was never closed$/m,
    );
    expect(stdout).toMatch(/^checks\.py:2:19: the script cannot be compiled: '\[' was never closed$/m);
    // Its lines are not those of the file: where it begins.
    expect(stdout).toMatch(
      /^a\.yaml:19:30: validation_scripts\[3\]\.source cannot be compiled: invalid syntax$/m,
    );
    expect(stdout).toMatch(
      /^a\.yaml:32:9: expected\.expression cannot be compiled: invalid syntax; it is "1 \+"$/m,
    );
    const { faults, valid } = JSON.parse((await here.run(['validate', 'a.yaml', '--json'])).stdout);
    expect(faults).toContainEqual(
      expect.objectContaining({ file: 'checks.py', position: { line: 2, column: 19 } }),
    );
    expect(valid).toEqual([]);
  });

  test('shows warnings, which are faults with --strict, and run shows them as well', async ({ expect }) => {
    const here = place();
    here.write(
      'a.yaml',
      `${SPEC}
security_testing: []
validation_scripts:
  - { name: lua, language: lua, source: "x = 1" }
tools:
  - name: add
    tests:
      - { name: adds, input: { a: 1, b: 2 }, expected: { subscribed: true }, validation_scripts: [lua] }
`,
    );
    const { status, stdout } = await here.run(['validate', 'a.yaml']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^a\.yaml:8:1: warning: security_testing is not known and is ignored/m);
    expect(stdout).toMatch(/^a\.yaml:10:\d+: warning: .*"lua".*is skipped/m);
    expect(stdout).toMatch(/^a\.yaml:14:\d+: warning: .*subscribed is not known/m);
    expect(stdout).toContain('✓ a.yaml: shop, 1 test\n! 3 warnings\n');
    expect((await here.run(['validate', 'a.yaml', '--strict'])).status).toBe(2);
    const refused = await here.run(['run', 'a.yaml', '--strict']);
    expect(refused.status).toBe(2);
    expect(refused.stdout).toMatch(/✗ 3 warnings: nothing was run\n$/);
    const ran = await here.run(['run', 'a.yaml', '--report', 'json:report.json']);
    expect(ran.status).toBe(0);
    expect(ran.stderr.split('\n').filter((line) => line.includes(': warning: '))).toHaveLength(3);
    const [suite] = JSON.parse(here.read('report.json')).suites;
    expect(suite.warnings).toHaveLength(3);
    expect(suite.results[0].scripts).toMatchObject([
      { name: 'lua', phase: 'after', status: 'skipped', reason: expect.stringContaining('"lua"') },
    ]);
  });

  test('without an interpreter, says that nothing was compiled', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', `${SPEC}\nvalidation_scripts: [{ name: a, source: "x = (" }]\n`);
    const { status, stdout } = await here.run(['validate', 'a.yaml', '--python', '/nowhere/python']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^a\.yaml: warning: the Python in it was not compiled: .*\/nowhere\/python/m);
  });
});
