import { chmodSync } from 'node:fs';
import type { JsonSchemaType } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { expect, test } from 'vitest';
import { sharedPackageIndex } from '../../../tests/support/package-index.js';
import { until } from '../../../tests/support/until.js';
import { ensureUv } from '../../../tests/support/uv.js';
import { temporaryFolder } from '../../core/tests/engine/pungi.js';
import { answerOf, call, execute, healthOf } from './calls.js';
import { behindTwoDoors } from './doors.js';

const index = await sharedPackageIndex();
const base = temporaryFolder();
chmodSync(base, 0o755);
// Before the settings of the tests' own index, which has no uv.
const uv = await ensureUv();
// Over HTTP the server is this process.
Object.assign(process.env, index.env);
const settings = { VENVS_BASE_PATH: base, PUNGI_UV: uv, ...index.env };

/** The servers share a folder, so each door has names of its own. */
let doors = 0;

behindTwoDoors(settings, (door) => {
  doors += 1;
  const number = doors;
  const own = (name: string) => `${name}-${number}`;
  const venvName = own('fruit');

  test('an environment is created with packages, and code runs in it', async () => {
    const { client } = door();
    const packages = ['banana', 'apple<2'];
    const created = await call(client, 'create_venv', { venvName, description: 'For fruit.', packages });
    expect(created.text).toMatch(
      new RegExp(`^Created: ${venvName}  Python 3\\.\\d+\\.\\d+  2 packages  .*For fruit\\.\n`),
    );
    expect(created.text).toContain('apple<2: installed, 1.1');
    expect(created.data).toMatchObject({
      environment: { venvName, description: 'For fruit.', packageCount: 2, isDefault: false },
      report: { packages: [{ status: 'installed', version: '1.0' }, { version: '1.1' }] },
    });
    const code = 'import apple, banana\nprint(apple.__version__)';
    const { outcome } = await execute(client, { code, venvName });
    expect(outcome).toMatchObject({ stdout: { text: '1.1\n' }, environment: venvName });
  });

  test('it is listed with its packages, size and last use, next to the default one', async () => {
    const { text, data } = await call(door().client, 'list_venvs');
    expect(text).toMatch(/^default \(default\) {2}Python 3/);
    expect(text).toMatch(
      new RegExp(
        `^${venvName}  Python \\S+  2 packages  \\d+ MB  last used \\d{4}-\\d\\d-\\d\\d  For fruit\\.$`,
        'm',
      ),
    );
    expect(data).toMatchObject({
      environments: expect.arrayContaining([
        expect.objectContaining({ venvName, requested: ['banana', 'apple<2'] }),
      ]),
    });
    const listed = await call(door().client, 'list_packages', { venvName });
    expect(listed.text).toBe(`Environment "${venvName}": 2 packages\napple 1.1\nbanana 1.0`);
    expect(listed.data).toEqual({
      venvName,
      total: 2,
      packages: [
        { name: 'apple', version: '1.1' },
        { name: 'banana', version: '1.0' },
      ],
    });
  });

  test('packages are installed, with progress, and removed again', async () => {
    const { client } = door();
    const steps: string[] = [];
    const installed = answerOf(
      await client.callTool(
        { name: 'install_packages', arguments: { packages: ['extras_pkg[fruit]'], venvName } },
        { onprogress: ({ message }) => steps.push(message ?? '') },
      ),
    );
    expect(installed.isError, installed.text).toBe(false);
    expect(installed.text).toMatch(
      /^Environment ".*" \(uv \S+, \d+\.\d s\):\nextras-pkg\[fruit\]: installed, 1\.0$/,
    );
    expect(steps.length).toBeGreaterThan(0);
    const removed = await call(client, 'uninstall_packages', { packages: ['extras-pkg'], venvName });
    expect(removed.text).toMatch(/extras-pkg: removed$/);
    expect(removed.data).toMatchObject({ removed: [{ name: 'extras-pkg', version: '1.0' }], added: [] });
  });

  test('what another package needs stays, and it is said which', async () => {
    const { text, isError } = await call(door().client, 'uninstall_packages', {
      packages: ['apple'],
      venvName,
    });
    expect(isError).toBe(true);
    expect(text).toMatch(/^PACKAGE_INSTALLATION_ERROR: .*\n- apple: .*banana/s);
  });

  test('a package that cannot be had is told apart from those that can, and nothing changes', async () => {
    const { client } = door();
    const packages = ['opencv-python', 'no-such-fruit'];
    const { text, isError, data } = await call(client, 'install_packages', { packages, venvName });
    expect(isError).toBe(true);
    expect(data).toMatchObject({ error: { code: 'PACKAGE_INSTALLATION_ERROR' } });
    expect(text).toMatch(/^PACKAGE_INSTALLATION_ERROR: .+/);
    expect(text).toMatch(/^- no-such-fruit: .*was not found/ms);
    expect((await call(client, 'list_packages', { venvName })).data).toMatchObject({ total: 2 });
  });

  test('health_check looks at the environment that is named', async () => {
    const { client } = door();
    await execute(client, { code: '1', venvName });
    const { data } = await call(client, 'health_check', { venvName });
    expect(data).toMatchObject({
      status: 'healthy',
      environment: { venvName, state: 'ready', isWarm: true },
    });
    expect((await healthOf(client)).environment).toMatchObject({ venvName: 'default', isDefault: true });
  });

  test('a description is replaced', async () => {
    const { text } = await call(door().client, 'set_venv_description', {
      venvName,
      description: 'Two\nlines',
    });
    expect(text).toMatch(/ {2}Two lines$/);
  });

  test('a run with inline dependencies installs them first, outside of its own time', async () => {
    const { client } = door();
    const code = `# /// script\n# dependencies = ["cherry", "opencv-python"]\n# ///\nimport cherry, cv2\ncv2.__version__ # ${venvName}`;
    const { outcome } = await execute(client, { code, timeoutMs: 5000 });
    expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, value: { json: '9.0' } });
    expect(outcome.environment).toMatch(/^inline-/);
    const { text, data } = await call(client, 'list_venvs');
    expect(text).toMatch(/^And 1 environment for inline dependencies of scripts {2}\d+ MB$/m);
    expect(text).not.toContain(outcome.environment);
    expect(data).toMatchObject({ inlineEnvironments: [{ venvName: outcome.environment }] });
  });

  test('inline dependencies that cannot be had are explained like any others', async () => {
    const code = '# /// script\n# dependencies = ["needs-new-python"]\n# ///\n1';
    const { texts, isError, outcome } = await execute(door().client, { code });
    expect(isError).toBe(true);
    expect(outcome.verdict).toMatchObject({ kind: 'no-environment', code: 'PACKAGE_INSTALLATION_ERROR' });
    expect(texts[0]).toMatch(/^PACKAGE_INSTALLATION_ERROR: /);
  });

  test('an installation that is cancelled leaves the environment as it was', async () => {
    const { client } = door();
    const asked = index.requests.length;
    index.hang(true);
    try {
      const stop = new AbortController();
      const args = {
        name: 'install_packages',
        arguments: { packages: ['durian', 'many'], venvName },
      };
      const installing = client.callTool(args, { signal: stop.signal });
      const ended = expect(installing).rejects.toThrow();
      await until(() => index.requests.length > asked, 'the index is asked');
      stop.abort('not wanted any more');
      await ended;
    } finally {
      index.hang(false);
    }
    expect((await call(client, 'list_packages', { venvName })).data).toMatchObject({ total: 2 });
    // The lock is free again.
    const described = await call(client, 'set_venv_description', { venvName, description: '' });
    expect(described.isError, described.text).toBe(false);
  });

  test.each([
    ['create_venv', { venvName: '../x' }, /"\.\.\/x" cannot be the name of an environment: .*letters/],
    ['create_venv', { venvName: 'nul' }, /Windows/],
    ['create_venv', { name: 'x' }, /venvName/],
    ['create_venv', { venvName: 'x', pythonVersion: '/usr/bin/python3' }, /python/i],
    ['create_venv', { venvName: 'x', packages: ['--index-url=x'] }, /option/],
    ['install_packages', { packages: [] }, /at least one/],
    ['install_packages', { packages: 'apple' }, /packages/],
    ['install_packages', { packages: ['apple; rm -rf /'] }, /marker/],
    [
      'install_packages',
      { packages: ['apple @ https://example.org/apple-1.0-py3-none-any.whl'] },
      /PACKAGE_SOURCES/,
    ],
    ['uninstall_packages', { packages: ['apple==1.0'], venvName }, /without versions/],
    ['uninstall_packages', { packages: ['no-such-fruit'], venvName }, /Not installed/],
    ['delete_venv', { venvName }, /confirm/],
    ['delete_venv', { venvName, confirm: false }, /confirm/],
    ['delete_venv', { venvName: 'default', confirm: true }, /second time/],
    ['list_packages', { venvname: venvName }, /venvname/],
  ])('%s %j is answered with INVALID_INPUT and a sentence', async (tool, args, sentence) => {
    const { text, isError } = await call(door().client, tool, args);
    expect(isError).toBe(true);
    expect(text).toMatch(/^INVALID_INPUT: /);
    expect(text).toMatch(sentence);
  });

  test.each([
    'execute_python',
    'install_packages',
    'uninstall_packages',
    'list_packages',
    'health_check',
    'delete_venv',
  ])('%s says that there is no such environment, and what to do', async (tool) => {
    const more = {
      execute_python: { code: '1' },
      delete_venv: { confirm: true },
      install_packages: { packages: ['apple'] },
      uninstall_packages: { packages: ['apple'] },
    }[tool];
    const { text, isError } = await call(door().client, tool, { venvName: 'nowhere', ...more });
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^ENVIRONMENT_NOT_FOUND: There is no environment "nowhere"\. list_venvs .* create_venv/,
    );
  });

  test('a name that is taken is refused', async () => {
    const { text } = await call(door().client, 'create_venv', { venvName });
    expect(text).toMatch(/^ENVIRONMENT_EXISTS: .*exists already/);
  });

  test('an environment in use is deleted only when the run has ended', async () => {
    const { client } = door();
    const code = 'import time\nprint("started", flush=True)\ntime.sleep(1000)';
    const stop = new AbortController();
    let hasStarted = false;
    const onprogress = ({ message }: { message?: string | undefined }) => {
      hasStarted ||= message === 'started';
    };
    const running = client
      .callTool(
        { name: 'execute_python', arguments: { code, venvName } },
        { onprogress, signal: stop.signal },
      )
      .catch(() => 'stopped');
    await until(() => hasStarted, 'the code has started');
    const refused = await call(client, 'delete_venv', { venvName, confirm: true });
    expect(refused.text).toMatch(/^ENVIRONMENT_IN_USE: /);
    const waiting = call(client, 'delete_venv', { venvName, confirm: true, wait: true });
    stop.abort();
    expect(await running).toBe('stopped');
    expect((await waiting).data).toEqual({ venvName, deleted: true });
    const { text } = await call(client, 'list_venvs');
    expect(text).not.toContain(venvName);
  });

  test('every reply has structured content, which fits the output schema if one is advertised', async () => {
    const { client } = door();
    const { tools } = await client.listTools();
    const name = own('schemas');
    const calls: [string, Record<string, unknown>][] = [
      ['create_venv', { venvName: name, packages: ['apple'] }],
      ['install_packages', { venvName: name, packages: ['banana', 'apple'] }],
      ['list_packages', { venvName: name }],
      ['list_venvs', {}],
      ['set_venv_description', { venvName: name, description: 'x' }],
      ['uninstall_packages', { venvName: name, packages: ['banana'] }],
      ['delete_venv', { venvName: name, confirm: true }],
    ];
    for (const [tool, args] of calls) {
      const { data, isError, text } = await call(client, tool, args);
      expect(isError, text).toBe(false);
      expect(Object.keys(data as object), tool).not.toEqual([]);
      const schema = tools.find((one) => one.name === tool)?.outputSchema;
      if (schema === undefined) continue;
      const check = new AjvJsonSchemaValidator().getValidator(schema as JsonSchemaType);
      expect(check(data), tool).toMatchObject({ valid: true });
      expect(check({}), tool).toMatchObject({ valid: false });
    }
  });
});
