import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sharedPackageIndex, startPackageIndex } from '../../../../tests/support/package-index.js';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { ensureUv } from '../../../../tests/support/uv.js';
import type { Finding } from '../../src/contract/analysis.js';
import { MAX_CODE_BYTES } from '../../src/contract/run.js';
import { sharedPungi, temporaryFolder, withPungi } from '../engine/pungi.js';
import { STAND_IN_RUFF } from './stand-in-ruff.js';

const realIndex = { ...process.env };
const uv = await ensureUv();

function emptyBase(): string {
  const base = temporaryFolder();
  chmodSync(base, 0o755);
  return base;
}

describe('around ruff', async () => {
  const index = await sharedPackageIndex([STAND_IN_RUFF]);
  Object.assign(process.env, index.env);
  const settings = { VENVS_BASE_PATH: emptyBase(), PUNGI_UV: uv };
  const pungi = sharedPungi(settings);

  test('the code reaches ruff on its standard input, and the findings come back in order', async () => {
    const code = 'x = "ü\\n"\n\u2028"""\n';
    const { findings, summary, tool } = await pungi.analyze({ code });
    expect(tool).toBe('ruff 0.99.1');
    expect(findings).toEqual([
      {
        line: 1,
        column: 1,
        endLine: 1,
        endColumn: 1,
        rule: 'invalid-syntax',
        name: 'invalid-syntax',
        message: 'bad',
        severity: 'error',
        category: 'error',
        url: null,
        fix: null,
      },
      expect.objectContaining({
        rule: 'F401',
        name: 'unused-import',
        category: 'style',
        severity: 'warning',
        url: 'https://example.org/rules/unused-import',
        fix: 'Remove it',
      }),
    ]);
    expect(summary).toEqual({
      total: 2,
      omitted: 0,
      bySeverity: { error: 1, warning: 1, info: 0 },
      byCategory: { error: 1, security: 0, complexity: 0, style: 1 },
    });
    const told = JSON.parse(findings[1]!.message) as { argv: string[]; env: string[]; code: string };
    expect(told.code).toBe(code);
    expect(told.argv).toEqual(expect.arrayContaining(['--isolated', '--no-cache', '-']));
    expect(told.env).toContain('RAYON_NUM_THREADS');
  });

  test('the environment of ruff is not one of the named ones, and is made once', async () => {
    const asked = index.requests.length;
    await pungi.analyze({ code: 'rules F401' });
    expect(index.requests.length).toBe(asked);
    const named = (await pungi.environments.list()).filter(({ isInline }) => !isInline);
    expect(named.map(({ venvName }) => venvName)).toEqual(['default']);
  });

  test('only rules that are enabled are asked for, and those of errors always', async () => {
    const selected = async (enabled: object) => {
      const { findings } = await pungi.analyze({ code: 'tell', ...enabled });
      const { argv } = JSON.parse(findings[1]!.message) as { argv: string[] };
      return argv[argv.indexOf('--select') + 1]!.split(',');
    };
    const none = { enableSecurity: false, enableStyle: false, enableComplexity: false };
    const always = await selected(none);
    expect(always).toContain('F82');
    const beyond = async (enabled: object) =>
      (await selected({ ...none, ...enabled })).filter((rule) => !always.includes(rule));
    expect(await beyond({ enableSecurity: true })).toEqual(['S']);
    expect(await beyond({ enableComplexity: true })).toEqual(['C90', 'PLR09']);
    expect(await beyond({ enableStyle: true })).toEqual(
      expect.arrayContaining(['E', 'N', 'UP', 'B', 'F401']),
    );
    expect(await selected({})).toEqual(expect.arrayContaining(['S', 'C90', 'E', 'F82']));
  });

  test('a rule means what its prefix says', async () => {
    const { findings } = await pungi.analyze({
      code: 'rules F821 S602 S307 S101 C901 B006 E722 E501 N802 PLE0101',
    });
    const meaning = Object.fromEntries(
      findings.map(({ rule, category, severity }) => [rule, `${category} ${severity}`]),
    );
    expect(meaning).toEqual({
      F821: 'error error',
      S602: 'security error',
      S307: 'security warning',
      S101: 'security info',
      C901: 'complexity warning',
      B006: 'style warning',
      E722: 'style warning',
      E501: 'style info',
      N802: 'style info',
      PLE0101: 'error error',
    });
  });

  test('findings beyond the list are counted', async () => {
    const { findings, summary } = await pungi.analyze({ code: 'many 1200' });
    expect(findings).toHaveLength(500);
    expect(summary).toMatchObject({ total: 1200, omitted: 700, bySeverity: { info: 1200 } });
  });

  test('a ruff that does not know this Python yet is asked once more without it', async () => {
    const { findings } = await pungi.analyze({ code: 'old' });
    expect(findings[1]?.message).not.toContain('--target-version');
  });

  test.each([
    ['fail', 'INTERNAL_ERROR', 'The code could not be analyzed: ruff: ruff failed Cause: it was told to'],
    ['mumble', 'INTERNAL_ERROR', 'could not be analyzed'],
  ])('%s: an answer that cannot be used is %s', async (code, expected, sentence) => {
    await expect(pungi.analyze({ code })).rejects.toMatchObject({
      code: expected,
      message: expect.stringContaining(sentence),
    });
  });

  test('code that is too large or no text is refused', async () => {
    const large = pungi.analyze({ code: ' '.repeat(MAX_CODE_BYTES + 1) });
    await expect(large).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('larger'),
    });
    await expect(pungi.analyze({ code: 1 as never })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('the limits of runs hold: time, and what is kept of the output', async () => {
    await withPungi({ ...settings, EXECUTION_TIMEOUT_MS: '300' }, (slow) =>
      expect(slow.analyze({ code: 'sleep' })).rejects.toMatchObject({
        code: 'EXECUTION_TIMEOUT',
        message: expect.stringMatching(/^The code could not be analyzed: /),
      }),
    );
    await withPungi({ ...settings, MAX_OUTPUT_BYTES: '2048' }, async (terse) => {
      const { findings, summary } = await terse.analyze({ code: 'many 100' });
      expect(findings.length).toBeGreaterThan(0);
      expect(findings.length + summary.omitted).toBe(100);
    });
  });

  test('a cancelled analysis ends, while ruff runs and while it is installed', async () => {
    const stop = new AbortController();
    const running = pungi.analyze({ code: 'sleep' }, { signal: stop.signal });
    const ended = expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
    await until(async () => (await pungi.health()).metrics.activeExecutions > 0, 'ruff runs');
    stop.abort();
    await ended;
    const other = await startPackageIndex([STAND_IN_RUFF]);
    other.hang(true);
    process.env['UV_DEFAULT_INDEX'] = other.url;
    try {
      await withPungi({ VENVS_BASE_PATH: emptyBase(), PUNGI_UV: uv }, async (fresh) => {
        const later = new AbortController();
        const installing = fresh.analyze({ code: 'x' }, { signal: later.signal });
        const refused = expect(installing).rejects.toThrow();
        await until(() => other.requests.length > 0, 'the index is asked');
        later.abort();
        await refused;
      });
    } finally {
      process.env['UV_DEFAULT_INDEX'] = index.url;
      await other.stop();
    }
  });
});

test.each(['has no ruff', 'cannot be reached'])(
  'where the index %s, TOOL_UNAVAILABLE says so',
  async (how) => {
    const index = await startPackageIndex([]);
    if (how === 'cannot be reached') await index.stop();
    Object.assign(process.env, index.env);
    await withPungi({ VENVS_BASE_PATH: emptyBase(), PUNGI_UV: uv }, (pungi) =>
      expect(pungi.analyze({ code: 'x' })).rejects.toMatchObject({
        code: 'TOOL_UNAVAILABLE',
        message: expect.stringMatching(
          /^Code is analyzed with ruff, which is not here and could not be installed: .*ruff/s,
        ),
        details: { tool: 'ruff' },
      }),
    );
    await index.stop();
  },
);

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')('with the real ruff', () => {
  test('errors, security, complexity and style are found in their places', { timeout: 300_000 }, async () => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, realIndex);
    await withPungi({ VENVS_BASE_PATH: emptyBase(), PUNGI_UV: uv }, async (pungi) => {
      const find = async (code: string, enabled = {}) =>
        (await pungi.analyze({ code, ...enabled })).findings.map(wordShort);
      const code = py`
        import os
        import subprocess


        def Run(a, b, c, d, e, f):
            subprocess.call("ls " + a, shell=True)
            return undefined_name
      `;
      expect(await find(code)).toEqual(
        expect.arrayContaining([
          '1:8 F401 style warning',
          '5:5 N802 style info',
          '5:5 PLR0913 complexity warning',
          '6:5 S602 security error',
          '7:12 F821 error error',
        ]),
      );
      const none = { enableSecurity: false, enableStyle: false, enableComplexity: false };
      expect(await find(code, none)).toEqual(['7:12 F821 error error']);
      expect(await find('def f(:\n', none)).toEqual(
        expect.arrayContaining(['1:7 invalid-syntax error error']),
      );
      expect(await find('x = 1')).toEqual([]);
      // A comment cannot talk a finding away.
      expect(await find('assert True  # noqa: S101\n')).toEqual(['1:1 S101 security info']);
      const { summary } = await pungi.analyze({ code: 'a\n'.repeat(20_000) });
      expect(summary.total).toBeGreaterThanOrEqual(20_000);
    });
  });
});

const wordShort = ({ line, column, rule, category, severity }: Finding) =>
  `${line}:${column} ${rule} ${category} ${severity}`;
