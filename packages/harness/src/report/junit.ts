import { revealed } from '@pungi/core/base';
import type { Failure, SuiteReport, TestReport, TestResult } from '@pungi/core/contract';
import { type Bounds, bounded, boundedLine } from './bounded-text.js';
import {
  countResults,
  exchangeOf,
  findingOf,
  measuresOf,
  plainFinding,
  plainFindings,
  scriptText,
  titleOf,
  validationOf,
} from './evidence.js';

/** GitLab refuses files over 30 MB; a thousand large failures stay below. */
const BOUNDS: Bounds = { chars: 6000, lines: 200 };
const ATTRIBUTE_CHARS = 1000;

/** Failures to get an answer, as opposed to wrong answers: JUnit calls them errors. */
const ERRORS: ReadonlySet<Failure['kind']> = new Set(['server', 'protocol', 'setup']);

const line = (text: string): string => boundedLine(text, ATTRIBUTE_CHARS);
const seconds = (ms: number): string => (ms / 1000).toFixed(6).replace(/(\.\d{3}\d*?)0+$/, '$1');

export function junitReport(report: TestReport): string {
  const sums = report.suites.map(sumsOf);
  const sum = (key: 'tests' | 'failures' | 'errors' | 'skipped') =>
    sums.reduce((total, one) => total + one[key], 0);
  const head = {
    name: 'pungi test',
    tests: sum('tests'),
    failures: sum('failures'),
    errors: sum('errors'),
    skipped: sum('skipped'),
    time: seconds(report.durationMs),
    timestamp: timestamp(report.startedAt),
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', head, ...report.suites.map(suiteElement))}\n`;
}

/** The problem of a suite becomes a test case: CI has no other place for it. */
function sumsOf({ results, problem }: SuiteReport) {
  const { total, failed, skipped } = countResults(results);
  const errors = results.filter(isError).length;
  const problems = problem === undefined ? 0 : 1;
  return { tests: total + problems, failures: failed - errors, errors: errors + problems, skipped };
}

const isError = ({ status, failures }: TestResult): boolean =>
  status === 'failed' && failures[0] !== undefined && ERRORS.has(failures[0].kind);

function suiteElement(suite: SuiteReport): string {
  const { name, file, server, serverStartMs, durationMs, startedAt, problem, results } = suite;
  const attributes = { name: line(name), ...sumsOf(suite), time: seconds(durationMs) };
  return element(
    'testsuite',
    { ...attributes, timestamp: timestamp(startedAt), file: line(file) },
    properties([
      ['spec', file],
      ...(suite.warnings ?? []).map((warning) => ['warning', warning]),
      ...(server
        ? [
            ['server.name', server.name],
            ['server.version', server.version],
            ['server.protocol', server.protocol],
            ...(serverStartMs === undefined ? [] : [['server.start_ms', String(Math.round(serverStartMs))]]),
          ]
        : []),
    ]),
    problem === undefined ? '' : problemElement(suite, problem),
    ...results.map((result) => caseElement(suite, result)),
  );
}

const problemElement = ({ name, file }: SuiteReport, problem: string): string =>
  element(
    'testcase',
    { name: 'the suite as a whole', classname: classname(name, 'server'), file: line(file), time: '0.000' },
    element('error', { message: line(problem), type: 'server' }, cdata(bounded(problem, BOUNDS))),
  );

function caseElement(suite: SuiteReport, result: TestResult): string {
  const { kind, target, durationMs, reason, status } = result;
  return element(
    'testcase',
    {
      name: line(titleOf(result)),
      classname: classname(suite.name, `${kind} ${target}`),
      file: line(suite.file),
      time: seconds(durationMs),
    },
    caseProperties(result),
    status === 'skipped' ? element('skipped', { message: reason && line(reason) }) : '',
    status === 'failed' ? failureElement(result) : '',
    ...outputs(result),
  );
}

/** One element for all failures: most readers show only the first. */
function failureElement(result: TestResult): string {
  const [first] = result.failures;
  const more = result.failures.length - 1;
  const message = first?.message ?? 'It failed without a message.';
  return element(
    isError(result) ? 'error' : 'failure',
    {
      message: line(message) + (more > 0 ? ` (and ${more} more)` : ''),
      type: first?.kind ?? 'expectation',
    },
    cdata(plainFindings(result.failures, BOUNDS)),
  );
}

function caseProperties(result: TestResult): string {
  const { id, tags, description, attempts } = result;
  return properties([
    ['id', id],
    ...(description === undefined ? [] : [['description', description]]),
    ...tags.map((tag) => ['tag', tag]),
    ...(attempts > 1 ? [['attempts', String(attempts)]] : []),
    ...measuresOf(result).map((note) => ['measured', note]),
    ...(result.scripts ?? []).map((script) => ['validator', scriptText(script)]),
  ]);
}

function outputs(result: TestResult): string[] {
  const advisories = result.advisories.map((advisory) => {
    return `advisory: ${plainFinding(findingOf(advisory, BOUNDS))}`;
  });
  const shown = exchangeOf(result, BOUNDS);
  const stderr = shown.find(({ label }) => label === "server's stderr");
  // Passed tests are only counted; their requests and responses would fill the report.
  const others =
    result.status === 'failed'
      ? shown.filter((evidence) => evidence !== stderr)
      : validationOf(result, BOUNDS);
  const out = [...advisories, ...others.map(({ label, text }) => `${label}:\n${text}`)].join('\n\n');
  return [
    out === '' ? '' : element('system-out', {}, cdata(out)),
    stderr === undefined ? '' : element('system-err', {}, cdata(stderr.text)),
  ];
}

function properties(pairs: readonly (readonly string[])[]): string {
  const all = pairs.map(([name, value]) => element('property', { name, value: line(value ?? '') }));
  return all.length === 0 ? '' : element('properties', {}, ...all);
}

/** Readers split class names at points, and show the last part as the class. */
const classname = (...parts: string[]): string =>
  parts.map((part) => line(part).replaceAll('.', '_')).join('.');

/** Without a time zone, as the format's schema requires; the time is UTC. */
const timestamp = (iso: string): string => line(iso).replace(/(\.\d+)?Z$/, '');

// Characters that XML 1.0 cannot contain, even escaped. `revealed` handles other control characters.
const IMPOSSIBLE = /[\uFFFE\uFFFF]|\p{Surrogate}/gu;

const holdable = (text: string): string => revealed(text).replace(IMPOSSIBLE, '�');

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
};

const CDATA = '<![CDATA[';

type Attributes = Record<string, string | number | undefined>;

function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const head = [name, ...given.map(([key, value]) => `${key}="${attribute(String(value))}"`)].join(' ');
  const inner = children.filter((child) => child !== '').join('\n');
  if (inner === '') return `<${head}/>`;
  // White space around text would become part of it.
  return inner.startsWith(CDATA) ? `<${head}>${inner}</${name}>` : `<${head}>\n${inner}\n</${name}>`;
}

const attribute = (text: string): string => holdable(text).replace(/[&<>"\n\t]/g, (one) => ENTITIES[one]!);

/** Splits a section at "]]>", which would end it. */
const cdata = (text: string): string =>
  text === '' ? '' : `${CDATA}${holdable(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
