import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/places.js';
import { annotationsOf, appendJobSummary, detectCi } from '../../src/report/index.js';
import { COMMANDING, hostileReport } from './hostile.js';
import { everydayReport, report, suite, testResult } from './sample.js';

const folder = temporaryFolder();

describe('CI', () => {
  test.each([
    ['GitHub Actions', { GITHUB_ACTIONS: 'true', CI: 'true' }],
    ['GitLab CI', { GITLAB_CI: 'true', CI: 'true' }],
    ['Jenkins', { JENKINS_URL: 'http://localhost:8080/' }],
    ['Azure Pipelines', { TF_BUILD: 'True' }],
    ['CircleCI', { CIRCLECI: 'true', CI: 'true' }],
    ['CI', { CI: '1' }],
  ])('%s is known by its variables', (name, env) => {
    expect(detectCi(env)?.name).toBe(name);
  });

  test('is not where it was declined', () => {
    for (const env of [{}, { CI: '' }, { CI: 'false' }, { CI: '0', GITHUB_ACTIONS: 'false' }]) {
      expect(detectCi(env)).toBeNull();
    }
  });
});

describe('remarks beside the code', () => {
  const remarks = (given: ReturnType<typeof everydayReport>, env: Record<string, string>) =>
    annotationsOf(given, { ci: detectCi(env), env })
      .split('\n')
      .slice(0, -1);

  test('on GitHub name the file below the repository, the test and the fault', () => {
    const lines = remarks(everydayReport(), { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: process.cwd() });
    expect(lines).toEqual([
      '::error file=specs/everything.yaml,title=tool/get-sum/adds negative numbers::The text at $.content[0].text is not what was expected.',
      '::error file=specs/everything.yaml,title=tool/get-structured-content/keeps its output schema::$.temperature is not a number. A humidity of 120 %25 is not possible.',
      '::error file=specs/everything.yaml,title=tool/trigger-long-running-operation/reports progress::The server ended with exit code 1 while it had a call to answer.',
      '::warning file=specs/everything.yaml,title=tool/echo/repeats its message::The answer has no annotations.',
    ]);
  });

  test('make an absolute path one below the repository', () => {
    const file = join(process.cwd(), 'specs/a,b.yaml');
    const [line] = remarks(report(suite([], { file, problem: 'It did not start.' })), {
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: process.cwd(),
    });
    expect(line).toBe('::error file=specs/a%2Cb.yaml,title=Everything::It did not start.');
  });

  test('on Azure are its own', () => {
    const [line] = remarks(everydayReport(), { TF_BUILD: 'True' });
    expect(line).toMatch(
      /^##vso\[task\.logissue type=error;sourcepath=specs\/everything\.yaml\]tool\/get-sum/,
    );
  });

  test('on TeamCity are its own tests, each with how it ended', () => {
    const bad = testResult("tool/a/it's [bad] | worse", {
      failure: { kind: 'script', message: 'no\n##teamcity[buildStop]' },
    });
    const skipped = { ...testResult('tool/a/later'), status: 'skipped' as const, reason: 'not now' };
    const given = report(suite([testResult('tool/a/good'), bad, skipped], { problem: 'It ended.' }));
    const plain = remarks(given, { TEAMCITY_VERSION: '2025.1' }).map((line) =>
      line.replace(/duration='\d+'/, 'duration'),
    );
    expect(plain).toEqual([
      "##teamcity[testSuiteStarted name='Everything']",
      "##teamcity[testStarted name='tool/a/good']",
      "##teamcity[testFinished name='tool/a/good' duration]",
      "##teamcity[testStarted name='tool/a/it|'s |[bad|] || worse']",
      "##teamcity[testFailed name='tool/a/it|'s |[bad|] || worse' message='no ##teamcity|[buildStop|]' details='']",
      "##teamcity[testFinished name='tool/a/it|'s |[bad|] || worse' duration]",
      "##teamcity[testIgnored name='tool/a/later' message='not now']",
      "##teamcity[buildProblem description='Everything: It ended.']",
      "##teamcity[testSuiteFinished name='Everything']",
    ]);
  });

  test('elsewhere are none', () => {
    expect(annotationsOf(everydayReport(), { ci: detectCi({ GITLAB_CI: 'true' }), env: {} })).toBe('');
    expect(annotationsOf(everydayReport(), { ci: null, env: {} })).toBe('');
  });

  test('are not more than are shown', () => {
    const failure = { kind: 'script' as const, message: 'no' };
    const many = Array.from({ length: 50 }, (_, at) => testResult(`tool/a/${at}`, { failure }));
    expect(remarks(report(suite(many)), { GITHUB_ACTIONS: 'true' })).toHaveLength(10);
  });

  test.each([
    ['GitHub', { GITHUB_ACTIONS: 'true' }, /^::(error|warning) file=[^:,]*,title=[^:,]*::/],
    ['Azure', { TF_BUILD: 'True' }, /^##vso\[task\.logissue type=(error|warning);sourcepath=[^\];]*\]/],
  ])('on %s cannot be forged by a server', (_, env, form) => {
    const lines = remarks(hostileReport(), env as Record<string, string>);
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(line).toMatch(form);
      expect(COMMANDING.test(line)).toBe(false);
      expect(line).not.toContain('%0A');
    }
  });
});

describe('the page of a job', () => {
  test('gets the report after what is there', async () => {
    const path = join(mkdtempSync(join(folder, 'job-')), 'summary.md');
    expect(await appendJobSummary(everydayReport(), { GITHUB_STEP_SUMMARY: path })).toBe(true);
    expect(await appendJobSummary(everydayReport(), { GITHUB_STEP_SUMMARY: path })).toBe(true);
    expect(readFileSync(path, 'utf8').match(/### ❌ 3 of 34 tests failed/g)).toHaveLength(2);
  });

  test('is no matter where there is none', async () => {
    expect(await appendJobSummary(everydayReport(), {})).toBe(false);
  });

  test('that cannot be written is told', async () => {
    const writing = appendJobSummary(everydayReport(), { GITHUB_STEP_SUMMARY: folder });
    await expect(writing).rejects.toThrow('Could not write the job summary: it is a folder.');
  });
});
