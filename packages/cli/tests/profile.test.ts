import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtIn } from '../../core/tests/profiles/profiles-of.js';
import { fieldsWithin } from '../src/profile/command.js';
import { profilePlace } from './profile-place.js';
import { pungi } from './pungi.js';

const { call, folder, profile, write } = profilePlace();

describe('pungi profile list', () => {
  test('shows the built-in ones and those of the file, with the default one marked', async () => {
    const { status, stdout, stderr } = await profile('list', '--allowed-profiles', 'default,reports');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^\* +default +any +none +yes +built-in +No rules/m);
    expect(stdout).toMatch(/^ +diego +7 packages +none +no +built-in +Engineering Leadership/m);
    expect(stdout).toMatch(/^ +reports +any +none +yes +profiles.yaml +what the report writer may do/m);
  });

  test('as JSON has everything', async () => {
    const { stdout } = await profile('list', '--json');
    const listed = JSON.parse(stdout) as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(
      'default strategic diego alvaro martin camille rachel reports quarterly'.split(' '),
    );
    expect(listed.at(-1)).toMatchObject({ mayUse: true, isDefault: false, limits: { timeoutMs: 5000 } });
  });
});

describe('pungi profile show', () => {
  test('marks what is inherited, and from whom', async () => {
    const { status, stdout } = await profile('show', 'quarterly');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ +Extends +reports$/m);
    expect(stdout).toMatch(/^ +Limits +timeoutMs 5000$/m);
    expect(stdout).toMatch(/^ +Blocked imports +socket, subprocess +← reports\n +ctypes$/m);
    expect(stdout).toMatch(/^ +Data +data\/sales is .*sales +← reports$/m);
  });

  test('without a name shows the default one', async () => {
    expect((await profile('show')).stdout).toContain('No rules: only the sandbox and its limits apply.');
    expect((await profile('show', '--default-profile', 'diego')).stdout).toMatch(/^diego {2}Engineering/);
  });

  test('as JSON has the rules and how they came about', async () => {
    const shown = JSON.parse((await profile('show', 'quarterly', '--json')).stdout);
    expect(shown).toMatchObject({ name: 'quarterly', mayUse: true, blockedBuiltins: ['eval'] });
    expect(shown.chain.map(({ name }: { name: string }) => name)).toEqual(['quarterly', 'reports']);
  });

  test('of one that does not exist says what there is', async () => {
    const { status, stdout, stderr } = await profile('show', 'report');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(
      /^pungi: There is no profile "report"\. Did you mean "reports"\? There are: default.*\n$/,
    );
  });
});

describe('pungi profile check', () => {
  test('finds nothing wrong with a good file', async () => {
    const { status, stdout, stderr } = await profile('check');
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: 'profiles.yaml: 2 profiles, 0 errors, 0 warnings.\n',
      stderr: '',
    });
  });

  test('tells every error with its line, and ends with 2', async () => {
    const bad = write('bad.yaml', 'profiles:\n  a: {colour: red}\n  b: {extends: c}\n');
    const { status, stdout } = await profile('check', bad);
    expect(status).toBe(2);
    expect(stdout).toMatch(/^error line 2, profile "a", colour: is not known/m);
    expect(stdout).toMatch(/^error line 3, profile "b", extends: there is no profile "c"/m);
    expect(stdout).toMatch(/^bad.yaml: 2 errors, 0 warnings\.$/m);
    const json = JSON.parse((await profile('check', bad, '--json')).stdout);
    expect(json).toMatchObject({
      file: 'bad.yaml',
      errors: [
        { profile: 'a', key: 'colour', line: 2 },
        { profile: 'b', key: 'extends' },
      ],
    });
  });

  test.each([
    [
      'a folder that is not there',
      'workspace: [{name: a, path: ./none}]',
      /^error .*"a" cannot be read: there is no .*none$/m,
    ],
    [
      'a folder that is a file',
      'workspace: [{name: a, path: ./profiles.yaml}]',
      /^error .*"a" is not a folder/m,
    ],
    [
      'an environment that is not there',
      'environment: ml',
      /^error .*no environment "ml".*pungi env create ml$/m,
    ],
    ['an environment that cannot be one', 'environment: a/b', /^error .*"a\/b" cannot be the name/m],
    ['a package that cannot be one', 'packages: ["numpy; rm -rf"]', /^error .*profile "a", packages\[0\]: /m],
    [
      'a package from elsewhere',
      'packages: ["https://a.example/x.whl"]',
      /^error .*profile "a", packages\[0\]: /m,
    ],
    ['a host that cannot be one', 'network: {allow: ["https://a.example"]}', /^error .*without https/m],
    [
      'what is allowed and blocked',
      'allowed_imports: [os], blocked_imports: [os]',
      /^warning .*os is blocked as well/m,
    ],
    ['a builtin that is none', 'blocked_builtins: [opne]', /^warning .*opne is not a builtin/m],
    [
      'packages that are not installed',
      'environment: default, packages: [numpy]',
      /^warning .*numpy is not installed/m,
    ],
    [
      'a default import that is blocked',
      'blocked_imports: [json], default_imports: [json]',
      /^warning .*json is blocked, and/m,
    ],
    ['what is never kept', 'cache_ttl: 5, deterministic: false', /^warning .*nothing is kept/m],
    [
      'hosts behind a block',
      'network: {allow: [a.example]}, blocked_operations: [network]',
      /^warning .*hosts are allowed, but/m,
    ],
    [
      'a variable that code cannot use',
      'template_vars: {class: 1}',
      /^warning .*template_vars.class: "class" is a Python keyword/m,
    ],
    [
      'a variable that hides a builtin',
      'template_vars: {print: 1}',
      /^warning .*template_vars.print: "print" hides/m,
    ],
    [
      'a context that hides a builtin',
      'context_variable: input',
      /^warning .*context_variable: "input" hides/m,
    ],
    ['an empty list of imports', 'allowed_imports: []', /^warning .*allowed_imports: .*nothing at all$/m],
    [
      'an empty list that adds nothing',
      'extends: strategic, allowed_imports: []',
      /^warning .*adds nothing to what is inherited$/m,
    ],
    ['an empty list of hosts', 'network: {allow: []}', /^warning .*network.allow: .*no host can be reached/m],
    [
      'an inherited lifetime that never applies',
      'extends: strategic, network: {allow: [a.example]}',
      /^warning .*network: the inherited cache_ttl of 1800 never applies/m,
    ],
    ['a message that is never used', 'scope_message: No.', /^warning .*is never used/m],
    [
      'a limit above that of the server',
      'limits: {memory_mb: 9999}',
      /^warning line 2, profile "a", limits.memory_mb: 9999 is above the 512/m,
    ],
  ])('finds %s', async (_, rules, sentence) => {
    const { status, stdout } = await profile('check', write('one.yaml', `profiles:\n  a: {${rules}}\n`));
    expect(stdout).toMatch(sentence);
    expect(status).toBe(stdout.includes('error ') ? 2 : 0);
  });

  test('tells everything at once, each with the line of its own entry and in its own spelling', async () => {
    const many = write(
      'many.yaml',
      `profiles:
  parent:
    cacheTtl: soon
    network:
      allow:
        - good.example
        - "https://bad.example"
    workspace:
      - { name: here, path: ./sales }
      - { name: gone, path: ./gone }
    packages:
      - numpy
      - "numpy; rm"
  child:
    extends: parent
    blocked_builtins:
      - open
      - opne
    limits:
      memory_mb: 9999
  orphan:
    extends: nobody
    environment: nowhere
  grandchild: { extends: orphan }
`,
    );
    const { status, stdout } = await call(['profile', 'check', many], { DEFAULT_PROFILE: 'nobody' });
    expect(status).toBe(2);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^error DEFAULT_PROFILE names the profile "nobody"/),
      expect.stringMatching(/^error line 3, profile "parent", cacheTtl: must be a number/),
      expect.stringMatching(/^error line 7, profile "parent", network.allow\[1\]: .*bad.example/),
      expect.stringMatching(/^error line 10, profile "parent", workspace\[1\]: "gone" cannot be read/),
      expect.stringMatching(/^error line 13, profile "parent", packages\[1\]: /),
      expect.stringMatching(/^error line 22, profile "orphan", extends: there is no profile "nobody"/),
      expect.stringMatching(/^error line 23, profile "orphan", environment: there is no environment/),
      expect.stringMatching(
        /^warning line 18, profile "child", blocked_builtins\[1\]: opne is not a builtin/,
      ),
      expect.stringMatching(/^warning line 20, profile "child", limits.memory_mb: 9999 is above/),
      'many.yaml: 7 errors, 2 warnings.',
      '',
    ]);
  });

  test('finds settings that name profiles which are not there', async () => {
    const { status, stdout } = await call(['profile', 'check'], {
      ALLOWED_PROFILES: 'nobody',
      DEFAULT_PROFILE: 'no',
    });
    expect(status).toBe(2);
    expect(stdout).toMatch(/^error ALLOWED_PROFILES names the profile "nobody"/m);
    expect(stdout).toMatch(/^error DEFAULT_PROFILE names the profile "no"/m);
  });

  test('where there is no file says so', async () => {
    const { status, stdout } = await pungi(['profile', 'check'], { cwd: join(folder, 'sales') });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'No profiles file, only the built-in profiles: 7 profiles, 0 errors, 0 warnings.\n',
    });
  });

  test.each([
    [['check', 'none.yaml'], 'none.yaml cannot be read'],
    [['check', '-p', 'reports'], '--profile needs --code'],
    [['check', '--code', 'none.py'], 'Could not read none.py'],
    [['check', '--code', '-', '--profile', 'nobody'], 'There is no profile "nobody"'],
    [['show', 'a', 'b'], 'see "pungi profile show --help"'],
  ])('%j is refused in one sentence', async (args, words) => {
    const { status, stdout, stderr } = await profile(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
    expect(stderr).toContain(words);
  });
});

describe('pungi profile check --code', () => {
  test('says where code leaves the scope, and ends with 77', async () => {
    const script = write('bad.py', 'import json\nimport socket\nx = eval("1")\n');
    const { status, stdout } = await profile('check', '--code', script, '--profile', 'reports');
    expect(status).toBe(77);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^bad\.py:2:1 import .*"reports".*socket$/),
      expect.stringMatching(/^bad\.py:3:5 builtin .*"reports".*eval$/),
      'bad.py leaves the scope of the profile "reports".',
      '',
    ]);
    const json = JSON.parse(
      (await profile('check', '--code', script, '--profile', 'reports', '--json')).stdout,
    );
    expect(json.violations).toMatchObject([
      { line: 2, column: 1, rule: 'import' },
      { line: 3, rule: 'builtin' },
    ]);
  });

  test('does not run the code, and says that it stays inside', async () => {
    const script = write('good.py', 'import json\n# import socket\nraise SystemExit(5)\n');
    const { status, stdout } = await profile('check', '--code', script, '--profile', 'reports');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^good\.py stays in the scope of the profile "reports"\./);
  });

  test('says where it is no Python', async () => {
    const { status, stdout } = await call(
      ['profile', 'check', '--code', '-', '--profile', 'reports'],
      {},
      'def\n',
    );
    expect(status).toBe(1);
    expect(stdout).toContain('SyntaxError');
  });
});

test('a narrow terminal shows fewer columns rather than half a description', () => {
  const listed = builtIn().all.map((profile) => ({ ...profile, isDefault: false, mayUse: true }));
  const headings = (width?: number) => fieldsWithin(listed, width).map(({ heading }) => heading);
  expect(headings()).toEqual(['', 'NAME', 'ENVIRONMENT', 'NETWORK', 'CALLERS', 'FROM', 'DESCRIPTION']);
  expect(headings(80)).toEqual(['', 'NAME', 'ENVIRONMENT', 'NETWORK', 'CALLERS', 'DESCRIPTION']);
  expect(headings(40)).toEqual(['', 'NAME', 'CALLERS', 'DESCRIPTION']);
});

test('the help of profile names its commands, and each of them has examples and its exit codes', async () => {
  const { stdout } = await profile('--help');
  for (const name of ['list', 'show', 'check']) {
    expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    const help = (await profile(name, '--help')).stdout;
    expect(help).toMatch(new RegExp(`\\nExamples:\\n  pungi profile ${name}\\b`));
    expect(help).toMatch(/^ +77 +\w/m);
    expect(help).toContain('PROFILES_FILE');
  }
});
