import type { SuiteReport, TestReport, TestResult } from '../../contract/test-report.js';
import { shownLine } from './evidence.js';

const MESSAGE_CHARS = 1000;

/** Lines by which TeamCity counts and shows every test as one of its own. */
export const teamcityMessages = ({ suites }: TestReport): string => suites.flatMap(suiteLines).join('');

function suiteLines({ name, problem, results }: SuiteReport): string[] {
  const problems =
    problem === undefined ? [] : [message('buildProblem', { description: `${name}: ${problem}` })];
  return [
    message('testSuiteStarted', { name }),
    ...results.flatMap(testLines),
    ...problems,
    message('testSuiteFinished', { name }),
  ];
}

function testLines({ id: name, status, reason = '', durationMs, failures }: TestResult): string[] {
  if (status === 'skipped') return [message('testIgnored', { name, message: reason })];
  const [first, ...others] = failures.map((failure) => failure.message);
  return [
    message('testStarted', { name }),
    ...(first === undefined
      ? []
      : [message('testFailed', { name, message: first, details: others.join(' ') })]),
    message('testFinished', { name, duration: String(Math.round(durationMs)) }),
  ];
}

const message = (kind: string, attributes: Record<string, string>): string => {
  const words = Object.entries(attributes).map(([name, value]) => ` ${name}='${escaped(value)}'`);
  return `##teamcity[${kind}${words.join('')}]\n`;
};

/** One line, so that there are no line ends to escape. */
const escaped = (text: string): string => shownLine(text, MESSAGE_CHARS).replace(/[|'[\]]/g, '|$&');
