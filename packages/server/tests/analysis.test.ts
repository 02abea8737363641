import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedPackageIndex, startPackageIndex } from '../../../tests/support/package-index.js';
import { ensureUv } from '../../../tests/support/uv.js';
import { Analysis } from '../../core/src/contract/analysis.js';
import { temporaryFolder } from '../../core/tests/engine/pungi.js';
import { STAND_IN_RUFF } from '../../core/tests/environments/stand-in-ruff.js';
import { call } from './calls.js';
import { behindTwoDoors, TWO_DOORS } from './doors.js';

const index = await sharedPackageIndex([STAND_IN_RUFF]);
const uv = await ensureUv();
const base = temporaryFolder();
chmodSync(base, 0o755);
// Over HTTP the server is this process.
Object.assign(process.env, index.env);

behindTwoDoors({ VENVS_BASE_PATH: base, PUNGI_UV: uv, ...index.env }, (door) => {
  const analyze = (args: Record<string, unknown>) => call(door().client, 'analyze_code', args);

  test('findings are told line by line, the counts first', async () => {
    const { text, data } = await analyze({ code: 'rules F821 S602 E501' });
    expect(text).toBe(
      [
        '3 findings (ruff 0.99.1): 2 errors, 0 warnings, 1 for information',
        '1:1  error  F821  told',
        '2:1  security error  S602  told',
        '3:1  style info  E501  told',
      ].join('\n'),
    );
    expect(Analysis.parse(data).summary).toMatchObject({ total: 3, omitted: 0 });
    expect((await analyze({ code: 'tell' })).text).toMatch(/fix: Remove it$/);
    expect((await analyze({ code: 'rules' })).text).toBe('No findings (ruff 0.99.1).');
  });

  test('a long list is shortened for the model, less so for a program', async () => {
    const { text, data } = await analyze({ code: 'many 600' });
    const shown = text.split('\n').length - 2;
    expect(shown).toBeGreaterThan(20);
    expect(text).toMatch(new RegExp(`\n… and ${600 - shown} more$`));
    expect(Analysis.parse(data)).toMatchObject({ findings: { length: 500 }, summary: { omitted: 100 } });
  });

  test('what is not enabled is not looked for', async () => {
    const { data } = await analyze({ code: 'tell', enableSecurity: false, enableComplexity: false });
    const [, { message } = { message: '' }] = Analysis.parse(data).findings;
    expect(message).not.toMatch(/,S,|,C90/);
    expect(message).toMatch(/F82,.*,UP,/);
  });

  test('venvName names the environment whose Python version counts', async () => {
    expect((await call(door().client, 'create_venv', { venvName: 'counts' })).isError).toBe(false);
    const { data } = await analyze({ code: 'tell', venvName: 'counts' });
    expect(JSON.stringify(Analysis.parse(data).findings)).toMatch(/target-version/);
    const { text, isError } = await analyze({ code: 'tell', venvName: 'absent' });
    expect(isError).toBe(true);
    expect(text).toMatch(/^ENVIRONMENT_NOT_FOUND: There is no environment "absent"\. /);
    await call(door().client, 'delete_venv', { venvName: 'counts', confirm: true });
  });

  test.each([
    ['no code', {}, /code/],
    ['an environment that cannot have that name', { code: '1', venvName: '../up' }, /name of an environment/],
    ['an environment that is no text', { code: '1', venvName: 3 }, /venvName/],
    ['an unknown argument', { code: '1', enableAll: true }, /enableAll/],
    ['code that is too large', { code: ' '.repeat(2 * 1024 * 1024 + 1) }, /larger/],
  ])('%s is answered with INVALID_INPUT', async (_what, args, naming) => {
    const { text, isError } = await analyze(args);
    expect(isError).toBe(true);
    expect(text).toMatch(/^INVALID_INPUT: /);
    expect(text).toMatch(naming);
  });

  test('an analysis that fails is an error of its own', async () => {
    const { text, isError, data } = await analyze({ code: 'fail' });
    expect(isError).toBe(true);
    expect(text).toMatch(/^INTERNAL_ERROR: The code could not be analyzed: ruff: ruff failed/);
    expect(data).toMatchObject({ error: { code: 'INTERNAL_ERROR', message: expect.any(String) } });
  });
});

test('where ruff cannot be had, TOOL_UNAVAILABLE says so', async () => {
  const empty = await startPackageIndex([]);
  const own = temporaryFolder();
  chmodSync(own, 0o755);
  // A process of its own: this one has the address of the full index in its environment.
  const [{ era, connect }] = TWO_DOORS;
  const { client, close } = await connect(era, { VENVS_BASE_PATH: own, PUNGI_UV: uv, ...empty.env });
  try {
    const { text, isError } = await call(client, 'analyze_code', { code: '1' });
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^TOOL_UNAVAILABLE: Code is analyzed with ruff, which is not here and could not be installed: /,
    );
  } finally {
    await close();
    await empty.stop();
  }
});
