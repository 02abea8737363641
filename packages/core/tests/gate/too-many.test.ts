import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/contract/limits.js';
import { parseRequest } from '../../src/gate/parse-request.js';
import { checkFits } from '../../src/gate/workspace-data.js';

const names = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`N${n}`, value]));

test.each([
  ['arguments', names(1001, 1), 'has 1001 arguments'],
  ['env', { code: '1', env: names(1001, 'x') }, 'env: must have at most 1000 names'],
  ['limits', { code: '1', limits: names(1001, 1) }, 'limits: must have at most 100 names'],
  ['files', { code: '1', files: Array(1001).fill({}) }, 'files: must have at most 1000 items'],
  [
    'names of a file',
    { code: '1', files: [{}, { path: 'a', ...names(50, 1) }] },
    'files.1: must have a path',
  ],
  ['argv', { code: '1', argv: Array(1025).fill(1) }, 'argv: must have at most 1024 items'],
  [
    'inputData',
    { code: '1', inputData: Array(100_001).fill('') },
    'inputData: must have at most 100000 items',
  ],
  ['lines', { code: '1', inputData: Array(1000).fill(1) }, 'inputData: 1000 items are not texts'],
])('too many %s are one fault', (_what, request, fault) => {
  expect(() => parseRequest(request)).toThrow(
    expect.objectContaining({
      code: 'INVALID_INPUT',
      details: { issues: [expect.stringContaining(fault)] },
    }),
  );
});

test('hundreds of unknown names are told as a hundred', () => {
  const refused = expect.objectContaining({ details: { issues: expect.objectContaining({ length: 100 }) } });
  expect(() => parseRequest({ code: '1', ...names(900, 1) })).toThrow(refused);
});

test.each([
  [['a', 'a/b'], 'a/b'],
  [['a/b/c', 'x', 'a'], 'a/b/c'],
  [['a/b', 'a-b', 'a!', 'a'], 'a/b'],
  [['a/b', 'a/bc', 'a/b!/c'], undefined],
  [['a', 'ab', 'a.b', 'b/a'], undefined],
])('of the files %j, %s lies below another', (paths, below) => {
  const check = () => checkFits({ files: paths.map((path) => ({ path, text: '' })) }, DEFAULT_LIMITS);
  if (below === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(`"${below}" lies below another file`);
});
