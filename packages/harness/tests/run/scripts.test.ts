import { expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { sharedPungi } from '../../../core/tests/engine/pungi.js';
import { PythonValidators } from '../../src/validate/python-validators.js';
import { messagesOf, over, run } from './suites.js';

const pungi = sharedPungi();
const server = over('good.mjs');
const add = (...tests: object[]) => [{ name: 'add', tests }];
const runWithPython = (specification: object, validators = new PythonValidators({}, pungi)) =>
  run({ server, ...specification }, { validators });

/** Leaves what it is told for the test to see. */
const TELL = 'import json\nlog("told", json.dumps(context))';

test('scripts run around the call, and are told what happened', async () => {
  const { named } = await runWithPython({
    variables: { colour: 'red' },
    metadata: { owner: 'us' },
    validation_scripts: [
      { name: 'mild', execution_phase: 'both', required: false, source: `${TELL}\nfail("mildly")` },
      { name: 'early', execution_phase: 'before', source: 'log(context["response"])' },
      { name: 'strict', source: `${TELL}\nfail("strictly", field="$.sum", expected=3, actual=2)` },
    ],
    tools: add({
      name: 'adds',
      tags: ['quick'],
      input: { a: 1, b: 1 },
      validation_scripts: ['mild', 'early', 'strict'],
      expected: { expression: ['response.structuredContent.sum == 2', 'colour == "blue"'] },
    }),
  });
  const { failures, advisories, logs } = named('adds');
  expect(logs.map(({ script, level }) => `${script} ${level}`)).toEqual([
    'mild told',
    'early info',
    'mild told',
    'strict told',
  ]);
  const [before, early, , after] = logs.map(({ message }) => message);
  expect(JSON.parse(before!)).toMatchObject({
    response: null,
    metadata: { phase: 'before', tool_name: 'add' },
  });
  expect(early).toBe('None');
  expect(JSON.parse(after!)).toMatchObject({
    request: { method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 1 } } },
    response: { structuredContent: { sum: 2 } },
    metadata: {
      test_name: 'adds',
      phase: 'after',
      server_info: { name: 'good', version: '1.2.3' },
      index: 0,
      attempt: 1,
      tags: ['quick'],
    },
    variables: { colour: 'red' },
    custom: { owner: 'us' },
  });
  expect(failures).toMatchObject([
    { kind: 'expectation', message: '`colour == "blue"` does not hold: colour is \'red\'' },
    { kind: 'script', message: 'strictly', script: 'strict', path: '$.sum', expected: 3, actual: 2, line: 3 },
  ]);
  expect(advisories.map(({ message }) => message)).toEqual(['mildly', 'mildly']);
});

test('what fails before the call keeps it from being made; what one leaves, the next finds', async () => {
  const { named, statuses } = await runWithPython({
    validation_scripts: [
      { name: 'refuses', execution_phase: 'before', source: 'assert 1 == 2, "not today"' },
      { name: 'leaves', source: 'session["sum"] = get("response.structuredContent.sum")' },
      {
        name: 'finds',
        source: py`
          assert session["sum"] == 2
          assert get("results")["tool/add/first"]["status"] == "passed"
          context["response"] = session["sum"] = "changed for nobody"
        `,
      },
      { name: 'still finds', source: 'get("response.structuredContent.sum") == 5' },
    ],
    tools: add(
      { name: 'never', input: { a: 1, b: 1 }, validation_scripts: ['refuses'] },
      { name: 'first', input: { a: 1, b: 1 }, validation_scripts: ['leaves'] },
      {
        name: 'second',
        dependencies: ['first'],
        input: { a: 2, b: 3 },
        validation_scripts: ['finds', 'still finds'],
      },
    ),
  });
  expect(statuses).toEqual(['never: failed', 'first: passed', 'second: passed']);
  expect(messagesOf(named('never'))).toEqual(['not today (line 1)']);
  expect(named('never').response).toBeUndefined();
});

test('repeated calls are judged by the last of them, and a script is tried again with its test', async () => {
  const { named } = await runWithPython({
    validation_scripts: [
      { name: 'last', source: 'log(context["metadata"]["index"])' },
      { name: 'late', source: 'log("x")\ncontext["metadata"]["attempt"] == 2' },
    ],
    tools: add(
      { name: 'often', input: { a: 1, b: 1 }, test_config: { repeat: 3 }, validation_scripts: ['last'] },
      {
        name: 'again',
        input: { a: 1, b: 1 },
        test_config: { retry_attempts: 2 },
        validation_scripts: ['late'],
      },
    ),
    test_config: { retry: { max_retries: 0, retry_delay_ms: 1 } },
  });
  expect(named('often').logs).toMatchObject([{ message: '2' }]);
  expect(named('again')).toMatchObject({ status: 'passed', attempts: 2 });
});

test('without anything that runs Python, its test fails', async () => {
  const { named } = await run({ server, tools: add({ name: 'adds', expected: { expression: 'True' } }) });
  expect(messagesOf(named('adds'))).toContain(
    'The test contains Python, and there is no interpreter to run it.',
  );
});
