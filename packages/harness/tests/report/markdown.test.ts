import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { markdownReport } from '../../src/report/markdown.js';
import { ensureTool } from './debian-tool.js';
import { COMMANDING, deepValue, hostileReport, MEGABYTE } from './hostile.js';
import { everydayReport, passedReport, report, suite, testResult } from './sample.js';

const cmark = await ensureTool('cmark-gfm');
if (cmark === undefined)
  console.warn('There is no cmark-gfm here: how GitHub reads the report is not tested.');

/** As GitHub reads it, with every extension that it uses and without its last filter against bad tags. */
const asHtml = (markdown: string): string =>
  execFileSync(cmark!, ['--unsafe', '-e', 'table', '-e', 'autolink', '-e', 'strikethrough'], {
    input: markdown,
    encoding: 'utf8',
  });

const tagsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/<\/?(\w+)/g)].map(([, tag]) => tag!));
const OWN_TAGS = ['h3', 'p', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'code', 'br', 'details', 'summary']
  .concat(['pre', 'strong', 'blockquote', 'ul', 'li'])
  .sort();

const rowsOf = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .map((line) => line.slice(2, -2).split(' | '));

describe('a Markdown report', () => {
  const markdown = markdownReport(everydayReport());

  test('begins with the verdict, then the suites, then what failed', () => {
    expect(markdown).toMatch(/^### ❌ 3 of 34 tests failed in 3\.9 s\n\n\| Suite/);
    const [head, everything, files, failedHead, ...failed] = rowsOf(markdown);
    expect(head).toEqual(['Suite', 'Server', 'Passed', 'Failed', 'Skipped', 'Time']);
    expect(everything?.slice(2)).toEqual(['22', '3', '3', '3.8 s']);
    expect(files?.slice(1)).toEqual([
      'secure-filesystem-server 0.2.0 (MCP 2025-11-25)',
      '6',
      '0',
      '0',
      '139 ms',
    ]);
    expect(failedHead).toEqual(['Failed test', 'Problem', 'Time']);
    expect(failed).toHaveLength(3);
    expect(failed[0]?.[0]).toContain('<code>tool/get-sum/adds negative numbers</code>');
  });

  test('has the difference, the exchange and the words of the server behind a click', () => {
    const [, details] = /<details><summary><code>tool\/get-sum([\s\S]*?)<\/details>/.exec(markdown)!;
    expect(details).toContain('```diff\n- The sum of 7 and -12 is -5.\n+ The sum of 7 and -12 is 5.\n```');
    expect(details).toContain('response:\n\n```json\n{"content":');
    expect(markdown).toContain("server's stderr:\n\n```text\nStarting default (STDIO) server...\nTypeError:");
  });

  test('folds what is skipped, advised and unsteady', () => {
    expect(markdown).toContain('<summary>3 skipped tests</summary>');
    expect(markdown).toContain('<summary>1 advisory</summary>');
    expect(markdown).toContain('<summary>1 test passed only after a retry</summary>');
  });

  test('is short when all is well', () => {
    const short = markdownReport(passedReport());
    expect(short).toMatch(/^### ✅ 21 tests passed in 1\.2 s\n/);
    expect(rowsOf(short)).toHaveLength(2);
  });

  test('says so when nothing was tested, and when a suite could not be', () => {
    expect(markdownReport(report())).toMatch(/^### ⚪ Nothing was tested\n/);
    const broken = markdownReport(report(suite([], { problem: 'The server did not start.' })));
    expect(broken).toMatch(
      /^### ❌ 1 suite could not be tested\n[\s\S]*> \*\*Everything:\*\* The server did not start\./,
    );
  });

  test('fits into a comment, however much failed, and says what is missing', () => {
    const failure = { kind: 'script' as const, message: 'x'.repeat(1000) };
    const many = Array.from({ length: 2000 }, (_, at) => testResult(`tool/a/${at}`, { failure }));
    const long = markdownReport(report(suite(many)));
    expect(long.length).toBeLessThan(65_536);
    expect(long).toContain('1950 more tests failed.');
    expect(long).toMatch(/The details of \d+ failed tests do not fit here/);
    expect(markdownReport(hostileReport(MEGABYTE)).length).toBeLessThan(65_536);
  });

  test('a value that is nested without end is no trouble', () => {
    const failure = { kind: 'expectation' as const, message: 'wrong', actual: deepValue() };
    expect(markdownReport(report(suite([testResult('tool/a/b', { failure })])))).toMatch(
      /nested deeper|lines left out/,
    );
  });

  test('holds no control character, and mentions nobody', () => {
    const hostile = markdownReport(hostileReport());
    expect(COMMANDING.test(hostile.replaceAll('\n', ''))).toBe(false);
    const unfenced = hostile
      .replaceAll(/^(`{3,})\w+\n[\s\S]*?\n\1$/gm, '')
      .replaceAll(/<code>.*?<\/code>/g, '');
    expect(unfenced).not.toMatch(/(?<!&)[@#]\w|&#(64|35);\w/);
  });
});

describe.skipIf(cmark === undefined)('as GitHub reads it', () => {
  test('the report has its tables and its details', () => {
    const html = asHtml(markdownReport(everydayReport()));
    expect(html.match(/<table>/g)).toHaveLength(2);
    expect(html.match(/<details>/g)).toHaveLength(6);
    expect(html).toContain('<pre><code class="language-diff">- The sum of 7 and -12 is -5.');
  });

  test.each([
    ['short', hostileReport()],
    ['endless', hostileReport(MEGABYTE)],
  ])('%s words of a server are words', (_, given) => {
    const html = asHtml(markdownReport(given));
    expect([...tagsOf(html)].filter((tag) => !OWN_TAGS.includes(tag))).toEqual([]);
    expect(html.match(/<details>/g)?.length).toBe(html.match(/<\/details>/g)?.length);
    expect(html).toContain('&lt;script&gt;window.taken');
    const columns = [...html.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(
      ([, row]) => row!.match(/<t[hd]>/g)?.length,
    );
    expect(new Set(columns)).toEqual(new Set([6, 3]));
  });
});
