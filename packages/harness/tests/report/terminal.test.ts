import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { TestReport } from '../../../core/src/contract/test-report.js';
import { findInterpreter } from '../../../core/src/sandbox/interpreter.js';
import { TerminalReporter } from '../../src/report/index.js';
import { COMMANDING, deepValue, hostileReport, MEGABYTE } from './hostile.js';
import { everydayReport, passedReport, report, suite, testResult } from './sample.js';

const { path: python } = await findInterpreter();
const root = join(import.meta.dirname, '../../../..');
const ON_TERMINAL = join(root, 'packages/cli/tests/fixtures/on_terminal.py');
const FOLLOW = join(import.meta.dirname, 'fixtures/follow.ts');
const CLEAR_LINE = '\r\x1b[2K';

/** What a recorded run shows on a real terminal. */
function onTerminal(args: string[], env: Record<string, string> = {}): string {
  const program = [process.execPath, '--import', 'tsx', FOLLOW, ...args];
  const { PATH = '' } = process.env;
  return execFileSync(python, [ON_TERMINAL, ...program], {
    cwd: root,
    env: { PATH, TERM: 'xterm', ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).replaceAll('\r\n', '\n');
}

/** What stays on the screen: of a line that was drawn over, the last. */
const screen = (shown: string): string =>
  stripVTControlCharacters(
    shown
      .split('\n')
      .map((line) => line.split(CLEAR_LINE).at(-1))
      .join('\n'),
  );

/** What it shows where there is no terminal. */
function plainly(
  given: TestReport,
  options: { verbose?: boolean; inCi?: boolean; now?: () => number } = {},
): string {
  const stream = new PassThrough();
  const reporter = new TerminalReporter({ stream: stream as unknown as NodeJS.WriteStream, ...options });
  reporter.started({ suites: given.suites.map(({ file, results }) => ({ file, tests: results.length })) });
  for (const { file, results } of given.suites) {
    for (const result of results) {
      reporter.testStarted(result.id);
      reporter.testEnded(result, file);
    }
  }
  reporter.ended(given);
  return String(stream.read() ?? '');
}

describe('without a terminal', () => {
  test('a run without fault is one line', () => {
    const steady = report(suite([testResult('tool/a/b'), testResult('tool/a/c')]));
    expect(plainly(steady)).toBe('✓ 2 passed in 8 ms · everything 2.0.0, MCP 2026-07-28\n');
  });

  test('a failure is told with its difference and the exchange, then the summary', () => {
    const [everything] = everydayReport().suites;
    const wrong = everything!.results.filter(({ name }) => name === 'adds negative numbers');
    expect(plainly(report(suite(wrong)))).toBe(
      [
        '✗ tool/get-sum/adds negative numbers  12 ms',
        '│ The text at $.content[0].text is not what was expected.',
        '│   - The sum of 7 and -12 is -5.',
        '│   + The sum of 7 and -12 is 5.',
        '│ request {"method": "tools/call", "params": {"name": "get-sum", "arguments": {"a": 7, "b": -12}}}',
        '│ response {"content": [{"type": "text", "text": "The sum of 7 and -12 is 5."}]}',
        '',
        '✗ 1 failed in 12 ms · everything 2.0.0, MCP 2026-07-28',
        '',
      ].join('\n'),
    );
  });

  test('several failures are listed once more at the end, with what else is worth knowing', () => {
    expect(plainly(everydayReport()).split('\n').slice(-9)).toEqual([
      '✗ tool/get-sum/adds negative numbers  specs/everything.yaml  The text at $.content[0].text is not what was expected.',
      '✗ tool/get-structured-content/keeps its output schema  specs/everything.yaml  $.temperature is not a number.',
      '✗ tool/trigger-long-running-operation/reports progress  specs/everything.yaml  The server ended with exit code 1 while it had a call to answer.',
      '',
      '! tool/echo/repeats its message: The answer has no annotations.',
      '! tool/get-annotated-message/marks errors: passed only on attempt 2',
      '○ tool/trigger-elicitation-request/accepts and 2 more: the server does not ask in this protocol',
      '✗ 3 failed, 28 passed, 3 skipped in 3.9 s',
      '',
    ]);
  });

  test('verbose has a line for every test', () => {
    const lines = plainly(everydayReport(), { verbose: true }).split('\n');
    expect(lines).toContain(
      '✓ server/everything/answers 200 calls at once  912 ms, 88 MB, 219 calls/s, specs/everything.yaml',
    );
    expect(lines).toContain(
      '○ tool/trigger-elicitation-request/declines  the server does not ask in this protocol, specs/everything.yaml',
    );
    expect(lines.filter((line) => line.startsWith('✓ '))).toHaveLength(28);
  });

  test('a suite that could not be tested, and nothing tested at all, are said', () => {
    const broken = report(suite([], { problem: 'The server did not start.', durationMs: 30 }));
    expect(plainly(broken)).toBe(
      '✗ specs/everything.yaml: The server did not start.\n✗ Nothing could be tested in 30 ms · everything 2.0.0, MCP 2026-07-28\n',
    );
    expect(plainly(report())).toBe('○ Nothing was tested: there was no test to run in 0 ms\n');
    const skipped = report(
      suite([testResult('tool/a/b', { status: 'skipped', durationMs: 0 })], { server: null }),
    );
    expect(plainly(skipped)).toBe('○ Nothing was tested: 1 skipped in 0 ms\n');
  });

  test('a long silence is broken by a sign of life', () => {
    let time = 0;
    const now = () => {
      time += 4000;
      return time;
    };
    const signs = plainly(passedReport(), { now })
      .split('\n')
      .filter((line) => line.startsWith('…'));
    expect(signs.length).toBeGreaterThan(2);
    expect(signs[0]).toMatch(/^… \d+ of 21$/);
  });
});

describe('whatever servers write', () => {
  test.each([
    ['', hostileReport()],
    [', endlessly,', hostileReport(MEGABYTE)],
  ])('commands no terminal%s and begins no line', (_, given) => {
    for (const verbose of [false, true]) {
      const shown = plainly(given, { verbose, inCi: true });
      expect(COMMANDING.test(shown.replaceAll('\n', ''))).toBe(false);
      expect(shown).not.toMatch(/^\s*::/m);
      expect(shown).not.toMatch(/##\[|##vso\[/);
      for (const line of shown.split('\n')) expect(line).toMatch(/^($|[✓✗○!│…] | {2}and )/);
    }
    expect(plainly(given).length).toBeLessThan(60_000);
  });

  test('is exact outside of CI', () => {
    expect(plainly(hostileReport())).toContain('##[error]forged');
  });

  test('may be nested without end', () => {
    const failure = { kind: 'expectation' as const, message: 'wrong', actual: deepValue() };
    expect(plainly(report(suite([testResult('tool/a/b', { failure })])))).toMatch(
      /nested deeper|lines left out/,
    );
  });

  test('a thousand faults of one test are the first ones and a number', () => {
    const failures = Array.from({ length: 1000 }, (_, at) => ({
      kind: 'schema' as const,
      message: `fault ${at}`,
    }));
    const shown = plainly(report(suite([testResult('tool/a/b', { failures, status: 'failed' })])));
    expect(shown.split('\n')).toHaveLength(13);
    expect(shown).toContain('│ fault 7\n│ 992 more findings\n');
  });
});

describe('on a terminal', () => {
  test('one live line counts, and only what matters stays', () => {
    const shown = onTerminal(['everyday']);
    const frames = shown
      .split(CLEAR_LINE)
      .slice(1)
      .filter((frame) => /^\S*[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(frame));
    expect(frames.length).toBeGreaterThan(20);
    for (const frame of frames) {
      expect(frame).not.toContain('\n');
      expect(stripVTControlCharacters(frame).length).toBeLessThan(80);
    }
    expect(frames.map(stripVTControlCharacters).join('\n')).toMatch(
      /━+╌+ 2 of 34, 1 failed {2}tool\/get-structured/,
    );
    expect(shown).toContain('\x1b[31m- The sum of 7 and -12 is -5.\x1b[39m');
    expect(shown).toContain('\x1b[32m+ The sum of 7 and -12 is 5.\x1b[39m');
    expect(screen(shown)).toBe(plainly(everydayReport()));
  });

  test('NO_COLOR and a dumb terminal are respected', () => {
    expect(onTerminal(['everyday'], { NO_COLOR: '1', TERM: 'dumb' })).toBe(plainly(everydayReport()));
  });

  test('a run that is broken off leaves no live line', () => {
    const shown = onTerminal(['passed', '--break-off']);
    expect(shown.endsWith(CLEAR_LINE)).toBe(true);
    expect(screen(shown)).toBe('');
  });
});
