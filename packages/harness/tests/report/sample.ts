import type { Failure, SuiteReport, TestReport, TestResult } from '../../../core/src/contract/test-report.js';
import { countResults } from '../../src/report/evidence.js';

export const STARTED_AT = '2026-11-03T09:41:00.000Z';

type Given = Partial<TestResult> & { failure?: Failure };

/** A test that passed, but for what is given. */
export function testResult(id: string, { failure, ...given }: Given = {}): TestResult {
  const [, kind, target, name] = /^(\w+)\/(.*)\/([^/]*)$/s.exec(id)!;
  return {
    id,
    kind: kind as TestResult['kind'],
    target: target!,
    name: name!,
    tags: [],
    status: failure === undefined ? 'passed' : 'failed',
    durationMs: 4.2,
    attempts: 1,
    failures: failure === undefined ? [] : [failure],
    advisories: [],
    logs: [],
    ...given,
  };
}

export function suite(results: TestResult[], given: Partial<SuiteReport> = {}): SuiteReport {
  return {
    file: 'specs/everything.yaml',
    name: 'Everything',
    server: { name: 'everything', version: '2.0.0', protocol: '2026-07-28' },
    startedAt: STARTED_AT,
    durationMs: results.reduce((sum, { durationMs }) => sum + durationMs, 0),
    results,
    ...given,
  };
}

export function report(...suites: SuiteReport[]): TestReport {
  return {
    version: 1,
    startedAt: STARTED_AT,
    durationMs: suites.reduce((sum, { durationMs }) => sum + durationMs, 0),
    counts: countResults(suites.flatMap(({ results }) => results)),
    suites,
  };
}

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const call = (name: string, args: Record<string, number | string>) => ({
  method: 'tools/call',
  params: { name, arguments: args },
});

const wrongSum = testResult('tool/get-sum/adds negative numbers', {
  tags: ['smoke'],
  durationMs: 12.4,
  description: 'The sum of a positive and a negative number keeps its sign.',
  failure: {
    kind: 'expectation',
    path: '$.content[0].text',
    message: 'The text at $.content[0].text is not what was expected.',
    diff: '- The sum of 7 and -12 is -5.\n+ The sum of 7 and -12 is 5.',
  },
  request: call('get-sum', { a: 7, b: -12 }),
  response: text('The sum of 7 and -12 is 5.'),
});

const diesMidway = testResult('tool/trigger-long-running-operation/reports progress', {
  tags: ['slow'],
  durationMs: 2340,
  attempts: 3,
  progress: 2,
  failure: {
    kind: 'server',
    message: 'The server ended with exit code 1 while it had a call to answer.',
  },
  request: call('trigger-long-running-operation', { duration: 10, steps: 5 }),
  serverStderr:
    "Starting default (STDIO) server...\n\u001b[31mTypeError\u001b[0m: Cannot read properties of undefined (reading \u001b[1m'progressToken'\u001b[0m)\n    at longRunningOperation (dist/everything.js:412:31)\n    at async callTool (dist/everything.js:388:20)\n",
});

const wrongShape = testResult('tool/get-structured-content/keeps its output schema', {
  tags: ['schema'],
  durationMs: 31,
  failures: [
    {
      kind: 'schema',
      path: '$.temperature',
      message: '$.temperature is not a number.',
      expected: { type: 'number' },
      actual: '33',
    },
    {
      kind: 'script',
      script: 'weather-is-plausible',
      line: 14,
      message: 'A humidity of 120 % is not possible.',
      path: '$.humidity',
      expected: 100,
      actual: 120,
    },
  ],
  status: 'failed',
  request: call('get-structured-content', { location: 'New York' }),
  response: {
    ...text('{"temperature":"33","conditions":"Cloudy","humidity":120}'),
    structuredContent: { temperature: '33', conditions: 'Cloudy', humidity: 120 },
  },
  logs: [{ level: 'warning', message: 'humidity=120', timeMs: 3, script: 'weather-is-plausible' }],
});

const advised = testResult('tool/echo/repeats its message', {
  tags: ['smoke'],
  durationMs: 1.3,
  advisories: [
    { kind: 'script', message: 'The answer has no annotations.', script: 'has-annotations', line: 3 },
  ],
  request: call('echo', { message: 'hello' }),
  response: text('Echo: hello'),
});

const skips = ['accepts', 'declines', 'is cancelled'].map((name) =>
  testResult(`tool/trigger-elicitation-request/${name}`, {
    status: 'skipped',
    reason: 'the server does not ask in this protocol',
    durationMs: 0,
    attempts: 0,
  }),
);

const passing = [
  ...['en', 'de', 'ja'].map((language, at) =>
    testResult(`tool/echo/repeats other languages [language=${language}]`, { durationMs: 0.8 + at * 0.3 }),
  ),
  ...[2, 5, 8, 13, 21, 34, 55, 89, 144, 233].map((number, at) =>
    testResult(`tool/get-sum/adds numbers [a=${number}]`, { durationMs: 1.1 + ((at * 7) % 5) * 0.9 }),
  ),
  testResult('tool/get-tiny-image/is a PNG', { durationMs: 6.8, memoryMb: 61.4 }),
  testResult('tool/get-annotated-message/marks errors', {
    durationMs: 3.4,
    attempts: 2,
    tags: ['annotations'],
  }),
  testResult('tool/toggle-subscriber-updates/starts and stops', { durationMs: 184 }),
  testResult('resource/demo://resource/static/document/{name}/reads the start page', { durationMs: 9.1 }),
  testResult('resource/demo://resource/dynamic/text/{id}/has a text for every id', { durationMs: 42 }),
  testResult('prompt/simple-prompt/has one message', { durationMs: 2.2 }),
  testResult('prompt/args-prompt/needs a city', { durationMs: 2.9 }),
  testResult('server/everything/answers 200 calls at once', {
    durationMs: 912,
    opsPerSecond: 219,
    memoryMb: 88,
  }),
];

const files = [
  ...['reads', 'writes', 'moves', 'edits', 'appends'].map((verb, at) =>
    testResult(`tool/${verb.slice(0, -1)}_file/${verb} a file`, { durationMs: 5 + at * 11, tags: ['files'] }),
  ),
  testResult('tool/read_file/refuses what is outside of its folders', {
    tags: ['security'],
    durationMs: 4.4,
    request: call('read_file', { path: '../../etc/passwd' }),
    response: { isError: true, ...text('Access denied - path outside allowed directories') },
  }),
];

/** A day's report, as somebody who writes a server would get it. */
export const everydayReport = (): TestReport =>
  report(
    suite([advised, wrongSum, wrongShape, diesMidway, ...passing, ...skips], { durationMs: 3790 }),
    suite(files, {
      file: 'specs/filesystem.yaml',
      name: 'File system',
      server: { name: 'secure-filesystem-server', version: '0.2.0', protocol: '2025-11-25' },
    }),
  );

export const passedReport = (): TestReport => report(suite(passing));
