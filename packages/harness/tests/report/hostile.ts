import type { Failure, TestReport } from '../../../core/src/contract/test-report.js';
import { report, suite, testResult } from './sample.js';

/** Words that would take over each of the formats, and the programs that show them. */
export const HOSTILE = [
  '<script>window.taken = 1</script><img src=x onerror="window.taken = 2"><style>*{display:none}</style>',
  '</pre></details></script><!-- --> <![CDATA[ ]]></failure></testcase> &amp; &#60; "quoted" \'single\'',
  '\u001b[31mred\u001b[2J\u001b]0;title\u0007 \u009b2J nul\u0000 back\b\b bell\u0007 \ufffe\uffff half\ud800',
  '\u202Eturned\u2066 isolate\u2069 \u200Emark \u2028line',
  '::error file=x::forged ##[error]forged ##vso[task.setvariable variable=x]forged',
  '| cell | @everyone #1 ``` ~~~ **bold** [link](javascript:alert(1)) https://example.com www.example.com $x$',
  '\r\n::error::on a line of its own\n# heading\n```\n</details>\n%0A::error::x 🙂 日本語 العربية',
].join(' ');

/** The same in every field that a specification, a server or a script writes. */
export function hostileReport(words = HOSTILE): TestReport {
  const failure: Failure = {
    kind: 'expectation',
    message: words,
    path: words,
    expected: { [words]: words },
    actual: [words],
    script: words,
    line: 3,
  };
  const fields = {
    kind: 'tool' as const,
    target: words,
    name: words,
    description: words,
    tags: [words],
    logs: [{ level: words, message: words, timeMs: 1, script: words }],
    request: { method: words, params: { [words]: words } },
    response: words,
    serverStderr: words,
  };
  const results = [
    testResult('tool/a/failed', {
      ...fields,
      failure,
      id: `1${words}`,
      failures: [failure, { ...failure, diff: words }],
    }),
    testResult('tool/a/passed', { ...fields, id: `2${words}`, advisories: [failure], status: 'passed' }),
    testResult('tool/a/skipped', { ...fields, id: `3${words}`, reason: words, status: 'skipped' }),
  ];
  results[0]!.status = 'failed';
  const server = { name: words, version: words, protocol: words };
  return report(suite(results, { file: words, name: words, server, problem: words }));
}

export const MEGABYTE = HOSTILE.repeat(Math.ceil(2 ** 20 / HOSTILE.length));

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
export const COMMANDING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Nested deeper than JSON can be written. */
export function deepValue(depth = 100_000): Failure['actual'] {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}
