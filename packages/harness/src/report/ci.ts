import { isAbsolute, relative, resolve } from 'node:path';
import type { SuiteReport, TestReport, TestResult } from '@pungi/core/contract';
import { resultsOf, shownLine } from './evidence.js';

export interface Ci {
  name: string;
  /** The syntax of log lines that become annotations, if supported. */
  annotations?: 'github' | 'azure' | 'teamcity';
  /** The syntax of foldable log sections, if supported. */
  sections?: 'gitlab';
}

type Environment = Readonly<Record<string, string | undefined>>;

const KNOWN: readonly [variable: string, Ci][] = [
  ['GITHUB_ACTIONS', { name: 'GitHub Actions', annotations: 'github' }],
  ['GITLAB_CI', { name: 'GitLab CI', sections: 'gitlab' }],
  ['TF_BUILD', { name: 'Azure Pipelines', annotations: 'azure' }],
  ['JENKINS_URL', { name: 'Jenkins' }],
  ['CIRCLECI', { name: 'CircleCI' }],
  ['BUILDKITE', { name: 'Buildkite' }],
  ['BITBUCKET_BUILD_NUMBER', { name: 'Bitbucket Pipelines' }],
  ['TEAMCITY_VERSION', { name: 'TeamCity', annotations: 'teamcity' }],
  ['DRONE', { name: 'Drone' }],
  ['APPVEYOR', { name: 'AppVeyor' }],
  ['TRAVIS', { name: 'Travis CI' }],
  ['CODEBUILD_BUILD_ID', { name: 'AWS CodeBuild' }],
  ['CI', { name: 'CI' }],
];

export const detectCi = (env: Environment): Ci | null =>
  KNOWN.find(([variable]) => !['', '0', 'false', undefined].includes(env[variable]?.toLowerCase()))?.[1] ??
  null;

/** Writes the start of a log section; returns a function that writes its end. Does nothing if unsupported. */
export function beginSection(ci: Ci | null, title: string, write: (text: string) => void): () => void {
  if (ci?.sections === undefined) return () => {};
  const name = `pungi_${title.replace(/[^A-Za-z0-9]+/g, '_')}`;
  const line = (which: 'start' | 'end', text: string) =>
    `\u001b[0Ksection_${which}:${Math.floor(Date.now() / 1000)}:${name}\r\u001b[0K${text}\n`;
  write(line('start', shownLine(title)));
  return () => write(line('end', ''));
}

/** GitHub shows ten annotations of each kind per step. */
const MOST = 10;
const MESSAGE_CHARS = 1000;

interface Remark {
  level: 'error' | 'warning';
  file: string;
  title: string;
  message: string;
}

/** Log lines that CI shows as annotations on the specification; empty if unsupported. */
export function annotationsOf(report: TestReport, { ci, env }: { ci: Ci | null; env: Environment }): string {
  if (ci?.annotations === undefined) return '';
  if (ci.annotations === 'teamcity') return teamcityMessages(report);
  const write = ci.annotations === 'github' ? githubLine : azureLine;
  const root = env['GITHUB_WORKSPACE'] ?? env['BUILD_SOURCESDIRECTORY'];
  const remarks = remarksOf(report);
  const some = (level: Remark['level']) => remarks.filter((remark) => remark.level === level).slice(0, MOST);
  return [...some('error'), ...some('warning')]
    .map((remark) => `${write({ ...remark, file: fromRoot(remark.file, root) })}\n`)
    .join('');
}

function remarksOf(report: TestReport): Remark[] {
  const problems = report.suites.flatMap(({ file, name, problem }) =>
    problem === undefined ? [] : [{ level: 'error' as const, file, title: name, message: problem }],
  );
  const found = resultsOf(report).flatMap(({ suite: { file }, result }) => {
    const remark = (level: Remark['level'], messages: readonly { message: string }[]): Remark[] =>
      messages.length === 0
        ? []
        : [{ level, file, title: result.id, message: messages.map(({ message }) => message).join(' ') }];
    return [...remark('error', result.failures), ...remark('warning', result.advisories)];
  });
  return [...problems, ...found];
}

/** Annotations name files relative to the repository. */
function fromRoot(file: string, root: string | undefined): string {
  if (!root) return file;
  const below = relative(root, resolve(file));
  return below.startsWith('..') || isAbsolute(below) ? file : below;
}

const githubLine = ({ level, file, title, message }: Remark): string =>
  `::${level} file=${githubProperty(file)},title=${githubProperty(title)}::${githubData(message)}`;

/** One line, so there are no line ends to escape. */
const githubData = (text: string): string => shownLine(text, MESSAGE_CHARS).replaceAll('%', '%25');
const githubProperty = (text: string): string =>
  githubData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

const azureLine = ({ level, file, title, message }: Remark): string =>
  `##vso[task.logissue type=${level};sourcepath=${azure(file)}]${azure(`${title}: ${message}`)}`;

const azure = (text: string): string =>
  shownLine(text, MESSAGE_CHARS).replaceAll('%', '%AZP25').replaceAll(';', '%3B').replaceAll(']', '%5D');

/**
 * Some runners execute these commands anywhere in a log line, and a server may print them. They also execute lines that begin
 * with two colons; no line of the report begins with foreign text.
 */
export const withoutCommands = (text: string): string => text.replace(/##(?=\[|vso\[|teamcity\[)/g, '# #');

/** Service messages by which TeamCity shows each test. */
const teamcityMessages = ({ suites }: TestReport): string => suites.flatMap(suiteLines).join('');

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
  const parts = Object.entries(attributes).map(([name, value]) => ` ${name}='${escaped(value)}'`);
  return `##teamcity[${kind}${parts.join('')}]\n`;
};

/** One line, so there are no line ends to escape. */
const escaped = (text: string): string => shownLine(text, MESSAGE_CHARS).replace(/[|'[\]]/g, '|$&');
