import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/places.js';
import type { TestReport } from '../../../core/src/contract/test-report.js';
import { findInterpreter } from '../../../core/src/sandbox/interpreter.js';
import { junitReport } from '../../src/report/junit.js';
import { COMMANDING, deepValue, HOSTILE, hostileReport, MEGABYTE } from './hostile.js';
import { everydayReport, passedReport, report, suite, testResult } from './sample.js';

const folder = temporaryFolder();
const { path: python } = await findInterpreter();
const READER = join(import.meta.dirname, 'fixtures/read_junit.py');

type Element = [tag: string, attributes: Record<string, string>, text: string, children: Element[]];

/** As a reader of XML sees it. */
function read(given: TestReport): Element {
  const path = join(folder, 'report.xml');
  writeFileSync(path, junitReport(given));
  return JSON.parse(execFileSync(python, [READER, path], { encoding: 'utf8', maxBuffer: 1 << 28 }));
}

const below = ([, , , children]: Element, tag: string): Element[] =>
  children.filter(([name]) => name === tag);
const cases = (root: Element): Element[] => below(root, 'testsuite').flatMap((one) => below(one, 'testcase'));
const named = (root: Element, name: string): Element =>
  cases(root).find(([, attributes]) => attributes['name'] === name)!;

describe('a JUnit report', () => {
  const root = read(everydayReport());

  test('counts what it holds, in whole and in each suite', () => {
    expect(root[0]).toBe('testsuites');
    expect(root[1]).toMatchObject({ tests: '34', failures: '2', errors: '1', skipped: '3', time: '3.9294' });
    expect(root[1]['timestamp']).toBe('2026-11-03T09:41:00');
    for (const one of below(root, 'testsuite')) {
      const within = below(one, 'testcase');
      const holding = (tag: string) => String(within.filter((each) => below(each, tag).length > 0).length);
      expect(one[1]).toMatchObject({
        tests: String(within.length),
        failures: holding('failure'),
        errors: holding('error'),
        skipped: holding('skipped'),
      });
    }
  });

  test('tells every test apart by its class and name', () => {
    const names = cases(root).map(([, { classname, name }]) => `${classname} ${name}`);
    expect(new Set(names).size).toBe(34);
    expect(names).toContain('Everything.tool get-sum adds numbers [a=13]');
    expect(names).toContain('Everything.resource demo://resource/dynamic/text/{id} has a text for every id');
  });

  test('has the server in its properties', () => {
    const [properties] = below(below(root, 'testsuite')[0]!, 'properties');
    expect(below(properties!, 'property').map(([, one]) => [one['name'], one['value']])).toEqual([
      ['spec', 'specs/everything.yaml'],
      ['server.name', 'everything'],
      ['server.version', '2.0.0'],
      ['server.protocol', '2026-07-28'],
    ]);
  });

  test('has one failure for a test, with all that was found, and the exchange beside it', () => {
    const test = named(root, 'keeps its output schema');
    const [failure, ...others] = below(test, 'failure');
    expect(others).toEqual([]);
    expect(failure![1]).toEqual({ message: '$.temperature is not a number. (and 1 more)', type: 'schema' });
    expect(failure![2]).toContain('received: "33"');
    expect(failure![2]).toContain(
      'A humidity of 120 % is not possible.\n  found by weather-is-plausible, line 14',
    );
    const [out] = below(test, 'system-out');
    expect(out![2]).toContain('request:\n{\n  "method": "tools/call"');
    expect(out![2]).toContain('warning humidity=120');
  });

  test('has an error where the server gave no answer, with what it wrote, and no colours', () => {
    const test = named(root, 'reports progress');
    expect(below(test, 'error')[0]![1]['type']).toBe('server');
    expect(below(test, 'system-err')[0]![2]).toContain(
      "\nTypeError: Cannot read properties of undefined (reading 'p",
    );
    const properties = below(below(test, 'properties')[0]!, 'property').map(([, one]) => one);
    expect(properties).toContainEqual({ name: 'tag', value: 'slow' });
    expect(properties).toContainEqual({ name: 'attempts', value: '3' });
    expect(properties).toContainEqual({ name: 'measured', value: '2 progress messages' });
  });

  test('says why a test was skipped, and what was advised', () => {
    const [skipped] = below(named(root, 'declines'), 'skipped');
    expect(skipped![1]).toEqual({ message: 'the server does not ask in this protocol' });
    expect(below(named(root, 'repeats its message'), 'system-out')[0]![2]).toContain(
      'advisory: The answer has no annotations.',
    );
  });

  test('shows a suite that could not be tested as an error of its own', () => {
    const broken = read(report(suite([], { problem: 'The server did not start.', server: null })));
    expect(broken[1]).toMatchObject({ tests: '1', errors: '1', failures: '0' });
    expect(below(cases(broken)[0]!, 'error')[0]![1]['message']).toBe('The server did not start.');
  });

  test('of passed tests holds nothing but that they passed', () => {
    for (const one of cases(read(passedReport()))) expect(one[3].map(([tag]) => tag)).toEqual(['properties']);
  });
});

describe('whatever servers write', () => {
  test('is text to a reader of XML, without a control character', () => {
    const root = read(hostileReport());
    expect(root[1]).toMatchObject({ tests: '4', failures: '1', errors: '1', skipped: '1' });
    const all = JSON.stringify(root);
    expect(COMMANDING.test(junitReport(hostileReport()).replaceAll('\n', ''))).toBe(false);
    expect(all).toContain('<script>window.taken = 1</script>');
    const [failure] = below(cases(root)[1]!, 'failure');
    expect(failure![2]).toContain('<![CDATA[ ]]></failure></testcase> &amp; &#60; "quoted"');
    expect(failure![2]).toContain('␛[31mred');
    expect(failure![1]['message']).toContain('"quoted" \'single\'');
  });

  test('is cut where it is endless, and there is still everything to be told', () => {
    const given = hostileReport(MEGABYTE);
    expect(junitReport(given).length).toBeLessThan(200_000);
    expect(cases(read(given))).toHaveLength(4);
  });

  test('may be nested without end, or wrong a thousand times', () => {
    const failures = Array.from({ length: 1000 }, (_, at) => ({
      kind: 'schema' as const,
      message: `fault ${at}`,
    }));
    const one = testResult('tool/a/b', { failures, status: 'failed', response: deepValue() });
    const [failure] = below(cases(read(report(suite([one]))))[0]!, 'failure');
    expect(failure![1]['message']).toBe('fault 0 (and 999 more)');
    expect(failure![2]).toMatch(/fault 19\n\n980 more findings\.$/);
  });

  test('cannot end a section of text, wherever it is cut', () => {
    for (const words of [']]>', ']]]]>>', ']]>]]>', `${']'.repeat(9)}>`, HOSTILE]) {
      const one = testResult('tool/a/b', {
        failure: { kind: 'script', message: words },
        serverStderr: words,
      });
      const [test] = cases(read(report(suite([one]))));
      expect(below(test!, 'failure')[0]![2].startsWith(words.slice(0, 9))).toBe(true);
    }
  });
});
