import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { TestReport } from '../../core/src/contract/test-report.js';
import { descendants, isAlive } from './pungi.js';
import { SPEC, testPlaces } from './test-place.js';

const place = testPlaces();
const SECONDS = 1000;

const TESTS = `${SPEC}
tools:
  - name: add
    tests:
      - name: adds
        tags: [quick]
        input: { a: 1, b: 2 }
        expected: { fields: [{ path: $.sum, value: 3 }] }
      - name: adds the wrong way
        tags: [bad]
        input: { a: 1, b: 2 }
        expected: { equals: { sum: 4 } }
`;
const GOOD = `${SPEC}
variables: { one: 1 }
tools:
  - name: add
    tests:
      - { name: adds, input: { a: "\${one}", b: 2 }, expected: { snapshot: true } }
`;

describe.concurrent('pungi test', { timeout: 120 * SECONDS }, () => {
  test('tells a failure in full, with the difference, and ends with 1', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', TESTS);
    const { status, stdout, stderr } = await here.run(['a.yaml']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toContain('✗ tool/add/adds the wrong way');
    expect(stdout).toMatch(/^│ +- +"sum": 4$/m);
    expect(stdout).toMatch(/^✗ 1 failed, 1 passed in .* · shop 1\.2\.3/m);
  });

  test('run is the same; tags and filters choose, and --verbose tells every test', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', TESTS);
    const chosen = await here.run(['run', 'a.yaml', '--tags', '!bad', '--verbose']);
    expect(chosen.status).toBe(0);
    expect(chosen.stdout).toMatch(/^✓ tool\/add\/adds {2}/m);
    expect(chosen.stdout).not.toContain('wrong way');
    const listed = await here.run(['run', 'a.yaml', '--filter', '/wrong/', '--list']);
    expect(listed).toEqual({ status: 0, stdout: 'tool/add/adds the wrong way  #bad\n', stderr: '' });
  });

  test('a choice that nothing matches is a mistake, not a success', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', TESTS);
    const { status, stderr } = await here.run(['a.yaml', '--filter', 'subtract']);
    expect(status).toBe(2);
    expect(stderr).toBe(
      'pungi: No test matches --filter subtract; run --list without them to see all tests.\n',
    );
  });

  test('--json gives the report and nothing else, and --report writes others', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', TESTS);
    const reports = ['--report', 'junit:out/r.xml', '--report', 'r.html', '--report', 'markdown:r.txt'];
    const { status, stdout } = await here.run(['a.yaml', '--json', ...reports]);
    expect(status).toBe(1);
    const report = TestReport.parse(JSON.parse(stdout));
    expect(report.counts).toEqual({ total: 2, passed: 1, failed: 1, skipped: 0 });
    expect(report.suites[0]!.file).toBe('a.yaml');
    expect(here.read('out/r.xml')).toContain('<testsuites');
    expect(here.read('r.html')).toContain('<!doctype html>');
    expect(here.read('r.txt')).toContain('wrong way');
  });

  test('a report of no known format is refused before anything runs', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', TESTS);
    const { status, stdout, stderr } = await here.run(['a.yaml', '--report', 'pdf:r.pdf']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(
      'pungi: --report pdf:r.pdf: write FORMAT:PATH, with one of json, junit, markdown, html.\n',
    );
  });

  test('snapshots are kept, compared, and kept anew with --update-snapshots', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', GOOD);
    expect((await here.run(['a.yaml'])).status).toBe(0);
    const changed = await here.run(['a.yaml', '--var', 'one=5']);
    expect(changed.status).toBe(1);
    here.write('a.yaml', GOOD.replace('one: 1', 'one: 7'));
    expect((await here.run(['a.yaml'])).status).toBe(1);
    expect((await here.run(['a.yaml', '-u'])).status).toBe(0);
    expect((await here.run(['a.yaml'])).status).toBe(0);
  });

  test('on GitLab every specification of several is a section of the log', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', TESTS);
    here.write('b.yaml', TESTS);
    const { stdout } = await here.run(['a.yaml', 'b.yaml', '--tags', 'quick'], {
      env: { GITLAB_CI: 'true' },
    });
    const plain = stdout.replace(/section_(start|end):\d+/g, 'section_$1:TIME');
    for (const name of ['a', 'b'])
      expect(plain).toContain(
        `\u001b[0Ksection_start:TIME:pungi_${name}_yaml\r\u001b[0K${name}.yaml\n\u001b[0Ksection_end:TIME:pungi_${name}_yaml\r\u001b[0K\n`,
      );
    expect(plain).toMatch(/^✓ 2 passed/m);
  });

  test('in CI a snapshot that does not exist is a failure, with a remark', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', GOOD);
    const summary = join(here.folder, 'summary.md');
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
    const { status, stdout } = await here.run(['a.yaml'], { env });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^::error file=a\.yaml,title=tool\/add\/adds::There is no snapshot/m);
    expect(existsSync(join(here.folder, '__snapshots__'))).toBe(false);
    expect(here.read('summary.md')).toContain('tool/add/adds');
  });

  test('validation scripts and expressions run in the sandbox', async ({ expect }) => {
    const here = place();
    here.write(
      'a.yaml',
      `${SPEC}
validation_scripts:
  - name: even
    source: |
      fail("not even", field="$.sum") if context["response"]["structuredContent"]["sum"] % 2 else None
tools:
  - name: add
    tests:
      - { name: even, input: { a: 1, b: 1 }, validation_scripts: [even], expected: { expression: "response['structuredContent']['sum'] == 2" } }
      - { name: odd, input: { a: 1, b: 2 }, validation_scripts: [even] }
`,
    );
    const { status, stdout } = await here.run(['a.yaml', '--verbose']);
    expect(stdout).toContain('✓ tool/add/even');
    expect(stdout).toMatch(/✗ tool\/add\/odd[^✓]*not even/);
    expect(status).toBe(1);
  });

  test('a server that cannot be started is told, and fails the run', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', TESTS.replace('command: node', 'command: no-such-program'));
    const { status, stdout } = await here.run(['a.yaml']);
    expect(status).toBe(1);
    expect(stdout).toContain('Could not start the server with "no-such-program": there is no such program');
  });

  test('Ctrl-C ends the run with 130, tells what was not run, and leaves no process', async ({ expect }) => {
    const here = place();
    here.write(
      'a.yaml',
      `${SPEC}
tools:
  - name: stall
    tests:
      - { name: never, input: { forever: true } }
      - { name: after, dependencies: [never] }
`,
    );
    const { child, ended } = here.start(['a.yaml', '--json']);
    const below = await until(
      () => {
        const found = descendants(child.pid!);
        return found.length > 0 ? found : undefined;
      },
      'the server runs',
      60_000,
    );
    child.kill('SIGINT');
    const { status, stdout } = await ended;
    expect(status).toBe(130);
    const { suites } = TestReport.parse(JSON.parse(stdout));
    expect(suites[0]!.results.some(({ status: one }) => one === 'skipped')).toBe(true);
    await until(() => !below.some(isAlive), 'nothing of it is left');
  });

  test('--watch runs again when a file changes, also from a fault, until Ctrl-C', async ({ expect }) => {
    const here = place();
    here.write('a.yaml', GOOD);
    const { child, shows, ended } = here.start(['a.yaml', '--watch']);
    await shows('stdout', /✓ 1 passed[\s\S]*Watching 2 files/);
    here.write('a.yaml', 'name: shop\nserver: {}\n');
    await shows('stdout', /a\.yaml:2:\d+: server .*[\s\S]*nothing was run[\s\S]*Watching/);
    here.write('a.yaml', TESTS);
    await shows('stdout', /✗ 1 failed, 1 passed[\s\S]*Watching/);
    child.kill('SIGINT');
    expect((await ended).status).toBe(1);
  });
});

describe.concurrent('pungi test validate', { timeout: 60 * SECONDS }, () => {
  const BAD = `name: shop
server: { comand: node }
tools:
  - name: add
    tests:
      - { name: one, expcted: {} }
      - { name: two, dependencies: [tree] }
`;

  test('tells every fault with its place and what was meant', async ({ expect }) => {
    const here = place();
    here.write('bad.yaml', BAD);
    here.write('good.yaml', GOOD);
    const { status, stdout } = await here.run(['validate', 'bad.yaml', 'good.yaml']);
    expect(status).toBe(2);
    expect(stdout).toMatch(/^bad\.yaml:2:\d+: warning: .*comand.*did you mean "command"\?/m);
    expect(stdout).toMatch(/^bad\.yaml:2:\d+: server is not complete/m);
    expect(stdout).toMatch(/^bad\.yaml:6:\d+: warning: .*expcted.*did you mean "expected"\?/m);
    expect(stdout).toMatch(/^bad\.yaml:7:\d+: .*"tree"/m);
    expect(stdout).toContain('✓ good.yaml: shop, 1 test\n');
    const { faults, valid } = JSON.parse(
      (await here.run(['validate', 'bad.yaml', 'good.yaml', '--json'])).stdout,
    );
    expect(faults[0]).toMatchObject({ file: 'bad.yaml', position: { line: 2 } });
    expect(valid).toEqual([{ file: 'good.yaml', name: 'shop', tests: 1 }]);
  });

  test('what is no file, and what is wrong before a run, is told the same way', async ({ expect }) => {
    const here = place();
    here.write('bad.yaml', BAD);
    here.write('program.yaml', '}{ ]\n'.repeat(50));
    const { stdout: few } = await here.run(['validate', 'program.yaml']);
    expect(few.match(/is not valid YAML/g)).toHaveLength(10);
    const absent = await here.run(['lint', '--url', 'http://nowhere.invalid/mcp']);
    expect(absent.stderr).toMatch(/^pungi: Could not reach the server: .*\.\n$/);
    const missing = await here.run(['validate', 'none.yaml']);
    expect(missing.status).toBe(2);
    expect(missing.stdout).toContain('none.yaml: ');
    const { status, stdout } = await here.run(['run', 'bad.yaml']);
    expect(status).toBe(2);
    expect(stdout).toMatch(/^bad\.yaml:2:\d+: /m);
    expect(stdout).toContain('nothing was run');
  });
});

test('the help names its commands, and each has examples and exit codes', async () => {
  const here = place();
  const { stdout } = await here.run(['--help']);
  const commands = ['run', 'validate', 'init', 'record', 'fuzz', 'lint', 'bench'];
  for (const name of commands) {
    expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    const help = await here.run([name, '--help']);
    expect(help.stdout).toMatch(/\nExamples:\n {2}pungi test /);
    expect(help.stdout).toMatch(/^ {2}130 +cancelled/m);
    expect(help.stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  }
}, 60_000);
