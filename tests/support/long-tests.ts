/**
 * Tests that `npm test` leaves to `npm run test:all` and CI: documented commands, real package indexes, servers and programs,
 * other users, and whatever takes half a minute. Naming a file runs it all the same: `npm test -- tests/docs`.
 */
export const RUNS_ALL = Boolean(process.env['PUNGI_TEST_ALL']);

const LONG = [
  'cli/env-refusals',
  'cli/env-terminal',
  'cli/usage',
  'docs/commands',
  'environments/packaging-agrees',
  'environments/packaging/packagers',
  'environments/real-index',
  'harness/real-servers',
  'house/setup',
  'judges/*',
  'mcp/strategic-analyses',
  'network/real-index',
  'profiles/real-data',
  'security/environment-attacks',
  'system-calls/packages',
];

export const LEFT_OUT = RUNS_ALL ? [] : LONG.map((name) => `tests/${name}.test.ts`);
