import { describe, expect, test } from 'vitest';
import { FIND_CHANNEL } from '../../../../tests/fixtures/hostile/find-channel.mjs';
import { py } from '../../../../tests/support/python.js';
import { PythonException, Value } from '../../src/contract/outcome.js';
import { jobOf, sharedEngine } from './engine.js';
import { expectOk, verdictOf } from './outcomes.js';

const engine = sharedEngine();

/** Code that says on the report pipe what only the worker should say, and ends with the status. */
const forging = (kind: 'D' | 'R', body: string, status: number) =>
  FIND_CHANNEL +
  py`
  import json, os, time
  body = ${body}
  data = len(body).to_bytes(4, "big") + b"${kind}" + body
  while data:
      data = data[os.write(REPORT, data):]
  if ${status} == 0:
      time.sleep(20)  # who has finished is ended
  os._exit(${status})
`;
const run = (code: string) => engine.run({ job: jobOf(code) });
const nested = (depth: number) =>
  `b'{"value":{"type":"list","repr":"forged","json":' + b"[" * ${depth} + b"]" * ${depth} + b"}}"`;

describe('a value that foreign code has made up', () => {
  test('nested a little too deep has no JSON', async () => {
    const outcome = await run(forging('D', nested(101), 0));
    expectOk(outcome);
    expect(outcome.value).toEqual({ type: 'list', repr: 'forged' });
  });

  test.each([300, 20_000, 400_000])('nested %i deep is not parsed: no worker says it', async (depth) => {
    const outcome = await run(forging('D', nested(depth), 0));
    expectOk(outcome);
    expect(outcome.value).toBeNull();
  });

  test('with more parts than any worker says is not parsed', async () => {
    const body = `b'{"value":{"type":"list","repr":"forged","json":[' + b"[]," * 150000 + b"1]}}"`;
    const outcome = await run(forging('D', body, 0));
    expectOk(outcome);
    expect(outcome.value).toBeNull();
  });

  test('nested as deep as the worker itself would say it is taken', async () => {
    const { value } = await run(forging('D', nested(100), 0));
    expect(JSON.stringify(value?.json)).toBe('['.repeat(100) + ']'.repeat(100));
    const honest = await run('x = []\nfor _ in range(99): x = [x]\nx');
    expect(honest.value?.json).toEqual(value?.json);
    expect((await run('x = []\nfor _ in range(100): x = [x]\nx')).value).not.toHaveProperty('json');
  });

  test('with a number that JSON can write and nobody can read has no JSON', async () => {
    const { value } = await run(
      forging('D', `b'{"value":{"type":"x","repr":"x","json":[{"a":-1e999}]}}'`, 0),
    );
    expect(value).toEqual({ type: 'x', repr: 'x' });
  });

  test('is no longer than one of the worker', async () => {
    const body =
      'json.dumps({"value": {"type": "t" * 300000, "repr": "r" * 300000, "json": ["j" * 420000]}}).encode()';
    const { value } = await run(forging('D', body, 0));
    expect(JSON.stringify(value).length).toBeLessThan(140_000);
    expect(Value.safeParse(value).success).toBe(true);
  });
});

describe('an exception that foreign code has made up', () => {
  test('is no longer and no deeper than one of the worker', async () => {
    const body = py`
      json.dumps({"exception": {name: name[0] * 190000 for name in ("type", "message", "text", "traceback", "missingModule")}
          | {"line": 1, "column": 1, "isMemoryError": [[]], "errno": "x", "hint": "h" * 9999}}).encode()
    `.trim();
    const { exception } = verdictOf(await run(forging('R', body, 1)), 'python-error');
    expect(JSON.stringify(exception).length).toBeLessThan(110_000);
    expect(exception.hint).toBeNull();
    expect(PythonException.safeParse(exception).success).toBe(true);
  });

  test.each([1000, 400_000])('with something nested %i deep beside it is not parsed', async (depth) => {
    const body = `b'{"exception":{"type":"x","message":"m","line":1,"column":1,"text":null,"traceback":"","missingModule":null,"x":' + b"[" * ${depth} + b"]" * ${depth} + b"}}"`;
    expect(verdictOf(await run(forging('R', body, 1)), 'exited').status).toBe(1);
  });
});
