import { expect, test } from 'vitest';
import { sandboxUid } from '../../src/sandbox/sandbox-uid.js';

const EVERYBODY = '         0          0 4294967295\n';

test.each([
  ['the whole machine', EVERYBODY, EVERYBODY, 1_900_000_000],
  ['no maps, as on other systems', '', '', 1_900_000_000],
  ['a rootless container', '0 1000 1\n1 100000 65536\n', '0 1000 1\n1 100000 65536\n', 65_536],
  ['fewer groups than users', '0 1000 1\n1 100000 65536\n', '0 1000 1\n1 100000 10\n', 10],
  ['root alone', '0 1000 1\n', '0 1000 1\n', 1_900_000_000],
])('%s', (_, uids, gids, expected) => {
  expect(sandboxUid(uids, gids)).toBe(expected);
});
