import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Analysis } from '../../core/src/contract/analysis.js';
import { STAND_IN_RUFF } from '../../core/tests/environments/stand-in-ruff.js';
import { openWorld } from './environments.js';

const folder = mkdtempSync(join(tmpdir(), 'test-analyze-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fileWith = (code: string) => {
  writeFileSync(join(folder, 'code.py'), code);
  return 'code.py';
};

const world = await openWorld([STAND_IN_RUFF]);
const withoutRuff = await openWorld([]);

describe('pungi analyze', () => {
  const analyze = (args: string[], input = '') => world.run(['analyze', ...args], { cwd: folder, input });

  test('prints a line for each finding, and ends with 1 where there are errors', async () => {
    const { status, stdout } = await analyze([fileWith('rules F821 S602 E501')]);
    expect(status).toBe(1);
    expect(stdout.split('\n')).toEqual([
      'code.py:1:1 error F821 told',
      'code.py:2:1 error S602 told',
      'code.py:3:1 info E501 told',
      'ruff 0.99.1 found 3: 2 errors, 0 warnings, 1 for information.',
      '',
    ]);
  });
  test('ends with 0 without errors, and says when there is nothing', async () => {
    expect(await analyze([fileWith('rules F401')])).toMatchObject({ status: 0 });
    expect(await analyze([fileWith('rules')])).toMatchObject({
      status: 0,
      stdout: 'ruff 0.99.1 found nothing.\n',
    });
  });
  test('reads standard input, and leaves out what is not wanted', async () => {
    const selected = async (...flags: string[]) => {
      const { stdout } = await analyze(['-', '--json', ...flags], 'tell');
      const { findings } = Analysis.parse(JSON.parse(stdout));
      const { argv } = JSON.parse(findings[1]!.message) as { argv: string[] };
      return argv
        .find((word) => word.includes('F8'))!
        .replace(/^.*=/, '')
        .split(',');
    };
    const all = await selected();
    expect(all).toEqual(expect.arrayContaining(await selected('--no-security')));
    expect(all.filter((rule) => /^S\d*$/.test(rule))).not.toEqual([]);
    expect((await selected('--no-security')).filter((rule) => /^S\d*$/.test(rule))).toEqual([]);
    expect((await analyze(['-'], 'rules F821')).stdout).toMatch(/^<stdin>:1:1 error F821 told\n/);
  });
});

test('where ruff cannot be had: one sentence, and status 69', async () => {
  const { status, stdout, stderr } = await withoutRuff.run(['analyze', fileWith('x = 1')], { cwd: folder });
  expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
  expect(stderr).toMatch(/\npungi: [^\n]*ruff[^\n]*\n$/);
});
