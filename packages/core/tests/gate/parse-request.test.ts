import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunRequest } from '../../src/contract/run.js';
import { parseRequest } from '../../src/gate/parse-request.js';

/** What is right for some field, and wrong for others. */
const value = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.constantFrom('main.py', 'a/b', '\0', '\ud800', '__proto__', undefined, null, true, 3, {}, []),
  fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
  fc
    .record({ path: fc.constantFrom('a.txt', '../a'), text: fc.string({ maxLength: 3 }) })
    .map((file) => [file]),
  fc.dictionary(fc.constantFrom('timeoutMs', 'HOME', 'function', 'arguments'), fc.constantFrom(5, 'f', {})),
);
const name = fc.constantFrom(...Object.keys(RunRequest.shape), 'other', 'constructor');
const request = fc.oneof(
  { arbitrary: fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: false }), weight: 9 },
  { arbitrary: value, weight: 1 },
);

test('only what is there is looked at, and what is found is the same', () => {
  const seen = { valid: 0, refused: 0 };
  fc.assert(
    fc.property(request, fc.boolean(), (given, withCode) => {
      const raw = withCode && typeof given === 'object' ? { code: 'print(1)', ...given } : given;
      const whole = RunRequest.safeParse(raw);
      seen[whole.success ? 'valid' : 'refused'] += 1;
      if (whole.success) expect(parseRequest(raw)).toEqual(whole.data);
      else expect(() => parseRequest(raw)).toThrow('The request is not valid');
    }),
    { numRuns: 3000 },
  );
  expect(Math.min(seen.valid, seen.refused)).toBeGreaterThan(300);
});

test('what is handed over is a request of its own', () => {
  const raw = { code: 'print(1)' };
  const request = parseRequest(raw);
  raw.code = 'print(2)';
  expect(request).toEqual({ code: 'print(1)' });
  expect(() => parseRequest(JSON.parse('{"code": "1", "__proto__": {}}'))).toThrow('__proto__');
});

test('a BigInt in a context is named as what it is', () => {
  for (const request of [
    { code: '1', context: { n: [1n] } },
    { code: '1', call: { function: 'f', arguments: { n: 1n } } },
  ])
    expect(() => parseRequest(request)).toThrow(/must not contain a BigInt: JSON has none/);
});
